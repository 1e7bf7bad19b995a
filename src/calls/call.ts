import { HubError, type Linked, type LinkedList } from '../base/index.ts';
import type { Caller, OperationKind } from '../domain/index.ts';
import { notOffered, oneLine, type Question, type QuestionAnswer, reachesLevel, unanswered } from '../mcp/index.ts';
import type { Hearing, WireCall, WireResult } from '../upstream/index.ts';
import type { CallClient, CallerChannel } from './channel.ts';
import type { ResourceWatch } from './resource-watch.ts';

export interface CallRequest {
  readonly caller: Caller;
  readonly kind: OperationKind;
  /** The name or URI that the agent used. */
  readonly name: string;
  /** The arguments exactly as they came: valid JSON. They are forwarded as this text, on one line. */
  readonly argumentsText: string;
  /** The same, parsed; decisions are made on this. */
  readonly args: unknown;
  /** Members of `_meta` that travel with the call, as JSON text. */
  readonly meta: string;
  /** `inputResponses` and `requestState`, as members of `params`, of a caller that comes again with answers. */
  readonly inputs?: string | undefined;
  /** Hears of changes, for subscriptions alone. */
  readonly watch?: ResourceWatch | undefined;
  /** Undefined where no program stands behind the call that could be told from others. */
  readonly client?: CallClient | undefined;
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
  | { readonly at: 'waiting'; readonly giveUp: (error: HubError) => void }
  | { readonly at: 'sent'; readonly wire: WireCall }
  | { readonly at: 'ended' };

/** Nobody fills in more forms at once, and each one waits for long. */
export const maxQuestions = 32;

/** One call from its arrival to its end. It outlives the request that brought it. */
export class Call implements Hearing, Linked<Call> {
  /** Of calls under way. */
  list: LinkedList<Call> | undefined;
  before: Call | undefined;
  after: Call | undefined;
  #request: CallRequest | undefined;
  #state: CallState = received;
  #channel: CallerChannel | undefined;
  #cancelled: HubError | undefined;
  #asking = 0;
  #wasAsked = false;

  constructor(request: CallRequest) {
    const argumentsText = oneLine(request.argumentsText);
    // A line break would end the message on a child's pipe, and what follows would be another one.
    this.#request = argumentsText === request.argumentsText ? request : { ...request, argumentsText };
    this.#channel = request.channel;
  }

  /** Only while the call is under way. */
  get request(): CallRequest {
    if (this.#request === undefined) throw new HubError('INTERNAL', 'A call that has ended was asked for its request.');
    return this.#request;
  }

  get cancelled(): HubError | undefined {
    return this.#cancelled;
  }

  detach(): void {
    this.#channel = undefined;
  }

  attach(channel: CallerChannel): void {
    if (this.#state.at !== 'ended') this.#channel = channel;
  }

  get owner(): unknown {
    return this.#request?.client?.session ?? this;
  }

  get wantsProgress(): boolean {
    return this.#channel?.progress !== undefined;
  }

  progress(params: Readonly<Record<string, unknown>>): void {
    this.#channel?.progress?.(params);
  }

  log(params: Readonly<Record<string, unknown>>): void {
    const log = this.#channel?.log;
    if (log !== undefined && reachesLevel(params.level, log.level)) log.send(params);
  }

  /** Its server wanted to know something of the caller. */
  get wasAsked(): boolean {
    return this.#wasAsked;
  }

  ask(question: Question): Promise<QuestionAnswer> {
    this.#wasAsked = true;
    const ask = this.#channel?.ask;
    const able = this.#request?.client?.askable.canAnswer(question.method, question.params) === true;
    if (ask === undefined || !able) return Promise.resolve(notOffered());
    if (this.#asking >= maxQuestions) return Promise.resolve(unanswered('Too many questions are open'));
    this.#asking++;
    return ask(question).finally(() => {
      this.#asking--;
    });
  }

  /** Before the call is sent this stops it; afterwards the server is told. An error is what the caller then reads. */
  cancel(reason: string | HubError): void {
    if (this.#cancelled !== undefined || this.#state.at === 'ended') return;
    this.#cancelled =
      reason instanceof HubError ? reason : new HubError('CANCELLED', `The call was cancelled: ${reason}.`);
    if (this.#state.at === 'sent') this.#state.wire.cancel(this.#cancelled);
    if (this.#state.at === 'waiting') this.#state.giveUp(this.#cancelled);
  }

  /** For the path of the call alone: what is waited for, or the cancellation that came first. */
  waitFor<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, giveUp) => {
      this.#state = { at: 'waiting', giveUp };
      work.then(resolve, giveUp);
      if (this.#cancelled !== undefined) giveUp(this.#cancelled);
    });
  }

  /** For the path of the call alone. */
  wasSent(wire: WireCall): void {
    this.#state = { at: 'sent', wire };
    if (this.#cancelled !== undefined) wire.cancel(this.#cancelled);
  }

  /** Drops what only a call under way needs: the caller may keep the object for long. */
  ended(): void {
    this.#state = ended;
    this.#channel = undefined;
    this.#request = undefined;
  }
}

const received: CallState = { at: 'received' };
const ended: CallState = { at: 'ended' };
