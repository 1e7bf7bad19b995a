/** One client's interest in one resource, from the server's yes until the client's end. */
export class ResourceWatch {
  readonly #onUpdate: (ownUri: string) => void;
  #release: (() => void) | undefined;
  #ended = false;

  constructor(onUpdate: (ownUri: string) => void) {
    this.#onUpdate = onUpdate;
  }

  /** The server says that the resource, or a part of it, has changed. */
  updated(ownUri: string): void {
    if (!this.#ended) this.#onUpdate(ownUri);
  }

  /** For whoever began it alone: how to let go of it. */
  begun(release: () => void): void {
    if (this.#ended) release();
    else this.#release = release;
  }

  end(): void {
    this.#ended = true;
    this.#release?.();
    this.#release = undefined;
  }
}
