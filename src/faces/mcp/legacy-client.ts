import { type Clock, HubError, LinkedList } from '../../base/index.ts';
import type { Call, CallClient } from '../../calls/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import {
  type ClientCapabilities,
  type ClientResponse,
  errorReply,
  logLevels,
  type Message,
  notification,
  resultReply,
  type ServerRequest,
  withoutServerRequests,
} from '../../mcp/index.ts';
import { operationAnswer } from './answer-text.ts';
import { type ClientSubscriptions, createClientSubscriptions } from './client-subscriptions.ts';
import { isList, listAnswer } from './lists.ts';
import { findRequest, OpenRequest } from './open-request.ts';
import { type ClientHandlers, type Operation, type Request, type StartedCall, startOperation } from './operations.ts';
import { createServerRequests, type OpenServerRequest, type ServerRequests } from './server-requests.ts';

export interface LegacyClientDeps {
  readonly hub: Hub;
  readonly clock: Clock;
  /** Sends messages that belong to no request; they are dropped if the client has no open stream. */
  readonly announce: (message: string) => void;
}

export interface LegacyClientFacts {
  readonly principal: string;
  readonly session: string;
  readonly clientCapabilities: ClientCapabilities;
  readonly name?: string | undefined;
  /** How long its first list may take. */
  readonly listTimeoutMs: number;
}

/** A legacy client on any transport: its capabilities, calls, open server requests and subscriptions. */
export class LegacyClient {
  readonly identity: CallClient;
  /** For requests whose transport carries nothing before the answer. */
  readonly silent: ClientHandlers;
  readonly #deps: LegacyClientDeps;
  readonly #session: string;
  readonly #listTimeoutMs: number;
  #logLevel: string | undefined;
  #calls: LinkedList<OpenRequest<StartedCall>> | undefined;
  #serverRequests: ServerRequests | undefined;
  #subscribed: ClientSubscriptions | undefined;

  constructor(deps: LegacyClientDeps, facts: LegacyClientFacts) {
    const { principal, session, clientCapabilities, name, listTimeoutMs } = facts;
    this.#deps = deps;
    this.#session = session;
    this.#listTimeoutMs = listTimeoutMs;
    this.identity = { principal, session, name, clientCapabilities, takesInputRequired: false };
    if (!clientCapabilities.nothing) {
      deps.hub.clients.listen(session, (method, params) => deps.announce(notification(method, params)));
    }
    const client = clientCapabilities.nothing
      ? this.identity
      : { ...this.identity, clientCapabilities: withoutServerRequests(clientCapabilities) };
    this.silent = { client, between: undefined, ask: undefined, log: undefined };
  }

  /** It has calls in flight. */
  get busy(): boolean {
    return this.#calls !== undefined && this.#calls.size > 0;
  }

  /** Whether the client may get messages other than progress before an answer. */
  mayReceiveMessages(caller: Caller): boolean {
    return !this.identity.clientCapabilities.nothing || this.#logLevel !== undefined || this.#deps.hub.mayLog(caller);
  }

  /** `onGone` registers a listener for the end of the stream that `between` writes to. */
  handlers(caller: Caller, between: (message: string) => void, onGone: (listener: () => void) => void): ClientHandlers {
    const logs = this.#logLevel !== undefined || this.#deps.hub.mayLog(caller);
    const log = logs ? { level: this.#logLevel } : undefined;
    const plain = { client: this.identity, between, ask: undefined, log };
    return this.identity.clientCapabilities.nothing ? plain : { ...plain, ...this.#asking(between, onGone) };
  }

  begin(caller: Caller, request: Request, operation: Operation, handlers: ClientHandlers): OpenRequest<StartedCall> {
    const started = new OpenRequest(
      request.id,
      startOperation(this.#deps.hub, { caller, request, operation }, handlers),
    );
    this.#calls ??= new LinkedList();
    this.#calls.add(started);
    const { dismiss } = handlers;
    if (dismiss !== undefined) void started.work.result.then(dismiss, dismiss);
    return started;
  }

  ended(request: OpenRequest<StartedCall>): void {
    this.#calls?.delete(request);
  }

  /** Answers requests that the hub handles itself, and subscriptions. */
  async answer(caller: Caller, request: Request): Promise<string> {
    const { idText, method } = request;
    if (isList(method)) {
      const { showsUi } = this.identity.clientCapabilities;
      return listAnswer(this.#deps.hub, caller, request, { era: 'legacy', showsUi, waitMs: this.#listTimeoutMs });
    }
    switch (method) {
      case 'ping':
        return resultReply(idText, '{}');
      case 'logging/setLevel':
        this.#setLevel(request);
        return resultReply(idText, '{}');
      case 'resources/subscribe':
        return this.#subscribe(caller, request);
      case 'resources/unsubscribe':
        this.#subscribed?.unsubscribe(uriOf(request));
        return resultReply(idText, '{}');
      default:
        return errorReply(idText, new HubError('METHOD_NOT_FOUND', `Method not found: ${method.slice(0, 200)}`));
    }
  }

  /** Takes a notification or response. Returns the call that it cancelled, if any. */
  receive(message: Message): Call | undefined {
    if (message.kind === 'response') this.#serverRequests?.answered(message);
    if (message.kind !== 'notification') return undefined;
    if (message.method === rootsChanged) this.#deps.hub.clients.rootsChanged(this.#session);
    if (message.method !== 'notifications/cancelled') return undefined;
    const { requestId, reason } = message.params;
    const call = this.#calls && findRequest(this.#calls, requestId)?.work.call;
    call?.cancel(typeof reason === 'string' ? reason.slice(0, 200) : 'by the client');
    return call;
  }

  /** Its session has begun. */
  initialized(caller: Caller): void {
    this.#deps.hub.clients.begin(this.#session, caller);
  }

  close(): void {
    // Created even if nothing was asked yet: calls go on, and later server requests get an error.
    this.#openServerRequests().close();
    this.#subscribed?.close();
    this.#calls = undefined;
    this.#deps.hub.clients.end(this.#session);
  }

  /** Handles the server requests of one call. */
  #asking(between: (message: string) => void, onGone: (listener: () => void) => void) {
    const open = new Set<OpenServerRequest>();
    let listens = false;
    const ask = async (serverRequest: ServerRequest): Promise<ClientResponse> => {
      const asked = this.#openServerRequests().ask(serverRequest, between);
      open.add(asked);
      // One listener is enough: the calls of a client that is gone are detached, so they ask nothing more.
      if (!listens) onGone(() => each(open, 'abandon'));
      listens = true;
      const answer = await asked.answer;
      open.delete(asked);
      return answer;
    };
    return { ask, dismiss: () => each(open, 'withdraw') };
  }

  #openServerRequests(): ServerRequests {
    this.#serverRequests ??= createServerRequests(this.#deps.clock, `${this.#session.slice(0, 8)}-`);
    return this.#serverRequests;
  }

  #setLevel({ params: { level } }: Request): void {
    if (typeof level !== 'string' || !logLevels.includes(level)) {
      throw new HubError('INVALID_PARAMS', `"level" must be one of ${logLevels.join(', ')}.`);
    }
    this.#logLevel = level;
  }

  async #subscribe(caller: Caller, request: Request): Promise<string> {
    const uri = uriOf(request);
    this.#subscribed ??= createClientSubscriptions(this.#deps.hub, (changed) =>
      this.#deps.announce(notification('notifications/resources/updated', { uri: changed })),
    );
    const outcome = await this.#subscribed.subscribe(caller, uri, this.identity, '');
    return operationAnswer(request.idText, 'subscription', outcome, 'legacy');
  }
}

function each(open: ReadonlySet<OpenServerRequest>, end: 'abandon' | 'withdraw'): void {
  for (const asked of open) asked[end]();
}

const rootsChanged = 'notifications/roots/list_changed';

function uriOf({ method, params: { uri } }: Request): string {
  if (typeof uri === 'string') return uri;
  throw new HubError('INVALID_PARAMS', `${method} needs "uri", the URI of a resource.`);
}
