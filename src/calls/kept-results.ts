/** Results as text, in bounded memory: the one that was used longest ago makes room. */
export class KeptResults {
  readonly #maxBytes: number;
  /** The one that was used last stands last. */
  readonly #results = new Map<string, Kept & { readonly size: number }>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** What it all takes, keys included. */
  get bytes(): number {
    return this.#bytes;
  }

  find(key: string, now: number): Kept | undefined {
    const kept = this.#results.get(key);
    if (kept === undefined) return undefined;
    this.#results.delete(key);
    if (kept.until > now) this.#results.set(key, kept);
    else this.#bytes -= kept.size;
    return kept.until > now ? kept : undefined;
  }

  /** One that would take more than its share is not kept. */
  keep(key: string, text: string, { until, uri }: Pick<Kept, 'until' | 'uri'>): void {
    this.forget(key);
    const length = Buffer.byteLength(text);
    const size = length + 2 * (uri?.length ?? 0) + overheadBytes;
    if (size > this.#maxBytes / maxShare) return;
    for (const oldest of this.#results.keys()) {
      if (this.#bytes + size <= this.#maxBytes) break;
      this.forget(oldest);
    }
    // Of its own: a slice of a pool, or of the message that the text came in, would hold on to all of it.
    const bytes = Buffer.allocUnsafeSlow(length);
    bytes.write(text);
    this.#results.set(key, { bytes, until, uri, size });
    this.#bytes += size;
  }

  forget(key: string): void {
    const kept = this.#results.get(key);
    if (kept === undefined) return;
    this.#results.delete(key);
    this.#bytes -= kept.size;
  }

  forgetUris(isGone: (uri: string) => boolean): void {
    for (const [key, { uri }] of this.#results) if (uri !== undefined && isGone(uri)) this.forget(key);
  }

  clear(): void {
    this.#results.clear();
    this.#bytes = 0;
  }
}

export interface Kept {
  readonly bytes: Buffer;
  /** By the clock that does not jump. */
  readonly until: number;
  /** Of a resource, in the server's own words. */
  readonly uri: string | undefined;
}

/** The key, and what the entry itself takes. */
const overheadBytes = 512;
const maxShare = 4;
