import type { HubError } from '../../base/index.ts';
import type { ServerState } from '../../domain/index.ts';

/**
 * The last answer over a live connection was 401 or 403. One tool may need more rights than the others, so the
 * connection stays open and only the state of the server changes.
 */
export class CredentialRefusal {
  readonly #onStateChange: () => void;
  #word: ServerState | undefined;
  #error: HubError | undefined;

  constructor(onStateChange: () => void) {
    this.#onStateChange = onStateChange;
  }

  get word(): ServerState | undefined {
    return this.#word;
  }

  get error(): HubError | undefined {
    return this.#error;
  }

  note(error: HubError): void {
    const word = error.code === 'UPSTREAM_FORBIDDEN' ? 'forbidden' : 'needs-login';
    if (this.#word === word) return;
    this.#word = word;
    this.#error = error;
    this.#onStateChange();
  }

  /** The server answered a request again. */
  lift(): void {
    if (this.#word === undefined) return;
    this.forget();
    this.#onStateChange();
  }

  /** The refused connection is gone. */
  forget(): void {
    this.#word = undefined;
    this.#error = undefined;
  }
}
