/** One client's subscription to one resource, from the server's confirmation to its end. */
export class ResourceSubscription {
  readonly #onUpdate: (ownUri: string) => void;
  #release: (() => void) | undefined;
  #ended = false;

  constructor(onUpdate: (ownUri: string) => void) {
    this.#onUpdate = onUpdate;
  }

  /** The server says that the resource, or a part of it, changed. */
  updated(ownUri: string): void {
    if (!this.#ended) this.#onUpdate(ownUri);
  }

  /** For its creator only: how to unsubscribe. */
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
