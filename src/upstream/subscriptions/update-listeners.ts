import { contain, type Logger } from '../../base/index.ts';

/** Notifies each listener of a changed resource. A defect of one does not affect the others. */
export class UpdateListeners {
  readonly #logger: Logger;
  readonly #server: string;
  readonly #listeners = new Set<(uri: string) => void>();

  constructor(logger: Logger, server: string) {
    this.#logger = logger;
    this.#server = server;
  }

  add(listener: (uri: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(uri: string): void {
    const fields = { server: this.#server };
    for (const listener of this.#listeners)
      contain(this.#logger, 'caller.defect-contained', fields, () => listener(uri));
  }
}
