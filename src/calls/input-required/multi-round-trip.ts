import { HubError, isJsonObject } from '../../base/index.ts';
import { type ClientResponse, modernInputRequest, type ServerRequest, unanswered } from '../../mcp/index.ts';
import type { Call, CallResult } from '../call.ts';

/** The next step of a call: its end, or requests that its caller answers with another call. */
export type RoundTripStep =
  | { readonly kind: 'ended'; readonly result: CallResult }
  /** The open requests by key, as a JSON object. */
  | { readonly kind: 'asked'; readonly inputRequests: string };

/**
 * A call whose caller cannot be asked while it waits: the server's requests become its answer, and the call waits at
 * the server until the caller calls again with the input.
 */
export class MultiRoundTrip {
  readonly #open = new Map<string, { readonly serverRequest: ServerRequest; settle(answer: ClientResponse): void }>();
  #lastKey = 0;
  #stir: (() => void) | undefined;
  #call: Call | undefined;
  #result: Promise<CallResult> | undefined;
  #abandoned: ClientResponse | undefined;

  /** Collects a request of the server. */
  readonly ask = (serverRequest: ServerRequest): Promise<ClientResponse> => {
    if (this.#abandoned !== undefined) return Promise.resolve(this.#abandoned);
    return new Promise((settle) => {
      this.#open.set(`q${++this.#lastKey}`, { serverRequest, settle });
      this.#stir?.();
    });
  };

  begin({ call, result }: { readonly call: Call; readonly result: Promise<CallResult> }): void {
    this.#call = call;
    this.#result = result;
    // `next()` reports a failure. Without this it would count as unhandled if nobody calls `next()` again.
    result.catch(() => {});
  }

  get call(): Call | undefined {
    return this.#call;
  }

  async next(): Promise<RoundTripStep> {
    const stirred = new Promise<'asked'>((resolve) => {
      this.#stir = () => resolve('asked');
    });
    if (this.#open.size > 0) this.#stir?.();
    const first = await Promise.race([this.#result, stirred]);
    this.#stir = undefined;
    if (first === 'asked') return { kind: 'asked', inputRequests: this.#inputRequests() };
    return { kind: 'ended', result: first as CallResult }; // the call has begun, so there is a result
  }

  /** Requests without an answer stay open and are returned again. Answers to unknown requests are ignored. */
  answer(responses: Readonly<Record<string, unknown>>): void {
    for (const [key, response] of Object.entries(responses)) {
      const open = this.#open.get(key);
      this.#open.delete(key);
      open?.settle(
        isJsonObject(response)
          ? { kind: 'result', text: JSON.stringify(response) }
          : unanswered('The client answered with no object'),
      );
    }
  }

  /** No answer will come. */
  abandon(reason: string | HubError): void {
    this.#abandoned = unanswered(reason instanceof HubError ? reason.message : reason);
    for (const { settle } of this.#open.values()) settle(this.#abandoned);
    this.#open.clear();
    this.#call?.cancel(reason);
  }

  #inputRequests(): string {
    const requests = [...this.#open].map(([key, { serverRequest }]) => `"${key}":${modernInputRequest(serverRequest)}`);
    return `{${requests.join(',')}}`;
  }
}
