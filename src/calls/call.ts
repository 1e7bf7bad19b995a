import { HubError, type Linked, type LinkedList } from '../base/index.ts';
import type { Caller, OperationKind } from '../domain/index.ts';
import {
  type ClientResponse,
  notSupported,
  oneLine,
  reachesLevel,
  type ServerRequest,
  unanswered,
} from '../mcp/index.ts';
import type { PendingRequest, RequestHandlers, ResultReply } from '../upstream/index.ts';
import type { CallClient, CallerChannel } from './channel.ts';
import { answerWithRoots, type RootsFilter } from './input-required/client-roots.ts';
import type { ResourceSubscription } from './subscriptions/resource-subscription.ts';
import type { Target } from './target.ts';

export interface CallRequest {
  readonly caller: Caller;
  readonly kind: OperationKind;
  /** The name or URI that the agent used. */
  readonly name: string;
  /**
   * How a program names it, if not like an agent. With `subject`, the name may also be `server.tool` or
   * `server.prompt`, as in policies.
   */
  readonly reference?: ToolReference | 'subject' | undefined;
  /** The tools to which a program narrowed its agent. */
  readonly only?: readonly ToolReference[] | undefined;
  /** The arguments exactly as received: valid JSON. This text is forwarded, on one line. */
  readonly argumentsText: string;
  /** The same, parsed. Decisions are made on this. */
  readonly args: unknown;
  /** Members of `_meta` to forward, as JSON text. */
  readonly meta: string;
  /** What the whole message takes until the call ends; zero for a small one. Undefined without a message. */
  readonly heldBytes?: number | undefined;
  /** `inputResponses` and `requestState` of a caller that calls again, as members of `params`. */
  readonly inputs?: string | undefined;
  /** Called on changes. For subscriptions only. */
  readonly subscription?: ResourceSubscription | undefined;
  /** Undefined if the client cannot be distinguished from others. */
  readonly client?: CallClient | undefined;
  /** How long a program waits for approval; it then gets an error. Undefined: as long as its client. */
  readonly approvalWait?: { readonly ms: number } | undefined;
  /** Undefined if the caller wants no messages during the call. */
  readonly channel: CallerChannel | undefined;
}

/** One tool, by its server and the server's own name. */
export interface ToolReference {
  readonly server: string;
  readonly tool: string;
}

export type CallResult =
  | { readonly kind: 'result'; readonly result: ResultReply }
  /** The server's JSON-RPC error, as text. */
  | { readonly kind: 'error'; readonly text: string; readonly code: number; readonly message: string }
  | { readonly kind: 'failed'; readonly error: HubError };

/** The server and tool of a call, or its resource or prompt. */
export type CallTarget = Pick<Target, 'name' | 'server' | 'subjectName' | 'ownName'>;

/** received → refused | held → sent → awaiting-input → done | failed | interrupted */
export type CallState =
  | 'received'
  /** A rule requires a person's approval. */
  | 'held'
  | 'sent'
  /** The server sent a request to the caller and waits for the answer. */
  | 'awaiting-input'
  | CallEndState;

export type CallEndState = 'refused' | 'done' | 'failed' | 'interrupted';

/** No person fills in more forms at once, and each may wait for long. */
export const maxServerRequests = 32;

/** One call from its arrival to its end. It may outlive the HTTP request that carried it. */
export class Call implements RequestHandlers, Linked<Call> {
  /** Links in the list of calls in flight. */
  list: LinkedList<Call> | undefined;
  before: Call | undefined;
  after: Call | undefined;
  #request: CallRequest | undefined;
  #state: CallState = 'received';
  /** The request at the server, until it is answered. */
  #pending: PendingRequest | undefined;
  /** Ends the current wait of the path. */
  #giveUp: ((error: HubError) => void) | undefined;
  #channel: CallerChannel | undefined;
  #target: Target | undefined;
  /** Undefined: the server gets no roots. */
  #filterRoots: RootsFilter | undefined;
  #cancelled: HubError | undefined;
  #asking = 0;
  #wasAsked = false;

  constructor(request: CallRequest) {
    const argumentsText = oneLine(request.argumentsText);
    // On a child's pipe, a line break would end the message, and the rest would be read as another one.
    this.#request = argumentsText === request.argumentsText ? request : { ...request, argumentsText };
    this.#channel = request.channel;
  }

  /** Only while the call is in flight. */
  get request(): CallRequest {
    if (this.#request === undefined) throw new HubError('INTERNAL', 'A call that has ended was asked for its request.');
    return this.#request;
  }

  get state(): CallState {
    return this.#state;
  }

  /** Once it is found, and after the end. Undefined if the agent has nothing of that name. */
  get target(): CallTarget | undefined {
    return this.#target;
  }

  get cancelled(): HubError | undefined {
    return this.#cancelled;
  }

  detach(): void {
    this.#channel = undefined;
  }

  attach(channel: CallerChannel): void {
    if (this.#request !== undefined) this.#channel = channel;
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

  /** The server sent a request to the caller. */
  get wasAsked(): boolean {
    return this.#wasAsked;
  }

  ask(serverRequest: ServerRequest): Promise<ClientResponse> {
    this.#wasAsked = true;
    const ask = this.#channel?.ask;
    const able =
      this.#request?.client?.clientCapabilities.canAnswer(serverRequest.method, serverRequest.params) === true;
    if (ask === undefined || !able) return Promise.resolve(notSupported());
    if (this.#asking >= maxServerRequests) return Promise.resolve(unanswered('Too many server requests are open'));
    this.#asking++;
    if (this.#state === 'sent') this.#state = 'awaiting-input';
    return this.#answerTo(serverRequest, ask).finally(() => {
      this.#asking--;
      if (this.#asking === 0 && this.#state === 'awaiting-input') this.#state = 'sent';
    });
  }

  #answerTo(serverRequest: ServerRequest, ask: NonNullable<CallerChannel['ask']>): Promise<ClientResponse> {
    if (serverRequest.method !== 'roots/list') return ask(serverRequest);
    const [server, filter] = [this.#target?.server, this.#filterRoots];
    if (server === undefined || filter === undefined) return Promise.resolve(notSupported());
    return ask(serverRequest).then((answer) => answerWithRoots(answer, (roots) => filter(server, roots)));
  }

  /** Stops a call that was not sent yet; otherwise the server is notified. The caller gets the error. */
  cancel(reason: string | HubError): void {
    if (this.#cancelled !== undefined || this.#request === undefined) return;
    this.#cancelled =
      reason instanceof HubError ? reason : new HubError('CANCELLED', `The call was cancelled: ${reason}.`);
    this.#pending?.cancel(this.#cancelled);
    this.#giveUp?.(this.#cancelled);
  }

  /** For the path only: the awaited value, unless the call is cancelled first. */
  waitFor<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, giveUp) => {
      this.#pending = undefined;
      this.#giveUp = giveUp;
      work.then(resolve, giveUp);
      if (this.#cancelled !== undefined) giveUp(this.#cancelled);
    });
  }

  /** For the path only: the parsed arguments are not needed any more, and can take far more memory than their text. */
  dropParsedArguments(): void {
    if (this.#request !== undefined) this.#request = { ...this.#request, args: undefined };
  }

  /**
   * For the path only: the target is one that the agent may know. A server that gets no roots does not learn that the
   * client has some.
   */
  wasFound(target: Target, filterRoots: RootsFilter): void {
    this.#target = target;
    if (target.control.spec.roots === 'client') {
      this.#filterRoots = filterRoots;
      return;
    }
    const { client } = this.#request ?? {};
    if (this.#request === undefined || client === undefined) return;
    const { clientCapabilities } = client;
    const { withoutRoots } = clientCapabilities;
    if (withoutRoots === clientCapabilities) return;
    this.#request = { ...this.#request, client: { ...client, clientCapabilities: withoutRoots } };
  }

  /** For the path only. */
  wasHeld(): void {
    this.#state = 'held';
  }

  /** For the path only. */
  wasSent(pending: PendingRequest): void {
    this.#state = 'sent';
    this.#pending = pending;
    this.#giveUp = undefined;
    if (this.#cancelled !== undefined) pending.cancel(this.#cancelled);
  }

  /** Drops state that only a call in flight needs, because the caller may keep the object for long. */
  ended(how: CallEndState): void {
    this.#state = how;
    this.#pending = undefined;
    this.#giveUp = undefined;
    this.#channel = undefined;
    this.#request = undefined;
  }
}
