import { HubError } from '../base/index.ts';
import type { Caller } from '../domain/index.ts';
import type { WireCall, WireResult } from '../upstream/index.ts';
import type { CallerChannel } from './channel.ts';

export interface CallRequest {
  readonly caller: Caller;
  /** The name the agent used. */
  readonly name: string;
  /** The arguments exactly as they came; they are forwarded as this text. */
  readonly argumentsText: string;
  /** The same, parsed; decisions are made on this. */
  readonly args: unknown;
  /** Members of `_meta` that travel with the call, as JSON text. */
  readonly meta: string;
  /** Undefined when the caller wants no messages in between. */
  readonly channel: CallerChannel | undefined;
}

export type CallResult =
  | { readonly kind: 'result'; readonly result: WireResult }
  /** The server's own JSON-RPC error, as text. */
  | { readonly kind: 'error'; readonly text: string; readonly code: number; readonly message: string }
  | { readonly kind: 'failed'; readonly error: HubError };

export type CallState =
  | { readonly at: 'received' }
  | { readonly at: 'sent'; readonly wire: WireCall }
  | { readonly at: 'ended' };

/** One call from its arrival to its end. It outlives the request that brought it. */
export class Call {
  readonly request: CallRequest;
  #state: CallState = { at: 'received' };
  #channel: CallerChannel | undefined;
  #cancelled: HubError | undefined;

  constructor(request: CallRequest) {
    this.request = request;
    this.#channel = request.channel;
  }

  get cancelled(): HubError | undefined {
    return this.#cancelled;
  }

  detach(): void {
    this.#channel = undefined;
  }

  attach(channel: CallerChannel): void {
    this.#channel = channel;
  }

  progress(params: Readonly<Record<string, unknown>>): void {
    this.#channel?.progress(params);
  }

  /** Before the call is sent this stops it; afterwards the server is told. */
  cancel(reason: string): void {
    if (this.#cancelled !== undefined || this.#state.at === 'ended') return;
    this.#cancelled = new HubError('CANCELLED', `The call was cancelled: ${reason}.`);
    if (this.#state.at === 'sent') this.#state.wire.cancel(this.#cancelled);
  }

  /** For the path of the call alone. */
  wasSent(wire: WireCall): void {
    this.#state = { at: 'sent', wire };
    if (this.#cancelled !== undefined) wire.cancel(this.#cancelled);
  }

  /** Drops what only a call under way needs: the caller may keep the object for long. */
  ended(): void {
    this.#state = { at: 'ended' };
    this.#channel = undefined;
  }
}
