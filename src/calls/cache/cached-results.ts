/** Results as text in bounded memory. The least recently used one is dropped first. */
export class CachedResults {
  readonly #maxBytes: number;
  /** The most recently used one is last. */
  readonly #results = new Map<string, CachedResult & { readonly size: number }>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The total size, including keys. */
  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#results.size;
  }

  find(key: string, now: number): CachedResult | undefined {
    const cached = this.#results.get(key);
    if (cached === undefined) return undefined;
    this.#results.delete(key);
    if (cached.until > now) this.#results.set(key, cached);
    else this.#bytes -= cached.size;
    return cached.until > now ? cached : undefined;
  }

  /** Ignores a result that exceeds its share. */
  keep(key: string, text: string, { until, uri }: Pick<CachedResult, 'until' | 'uri'>): void {
    this.forget(key);
    const length = Buffer.byteLength(text);
    const size = length + 2 * (uri?.length ?? 0) + overheadBytes;
    if (size > this.#maxBytes / maxShare) return;
    for (const oldest of this.#results.keys()) {
      if (this.#bytes + size <= this.#maxBytes) break;
      this.forget(oldest);
    }
    // A copy, because a slice would keep the whole pool or message in memory.
    const bytes = Buffer.allocUnsafeSlow(length);
    bytes.write(text);
    this.#results.set(key, { bytes, until, uri, size });
    this.#bytes += size;
  }

  forget(key: string): void {
    const cached = this.#results.get(key);
    if (cached === undefined) return;
    this.#results.delete(key);
    this.#bytes -= cached.size;
  }

  forgetUris(isGone: (uri: string) => boolean): void {
    for (const [key, { uri }] of this.#results) if (uri !== undefined && isGone(uri)) this.forget(key);
  }

  clear(): void {
    this.#results.clear();
    this.#bytes = 0;
  }
}

export interface CachedResult {
  readonly bytes: Buffer;
  /** On the monotonic clock. */
  readonly until: number;
  /** The server's own URI, for a resource. */
  readonly uri: string | undefined;
}

/** The key, and the overhead of the entry. */
const overheadBytes = 512;
const maxShare = 4;
