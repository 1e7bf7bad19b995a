import { type Clock, HubError, LinkedList } from '../../base/index.ts';
import type { Call, CallClient } from '../../calls/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import {
  type Askable,
  askableNothing,
  errorReply,
  logLevels,
  type Message,
  notification,
  type Question,
  type QuestionAnswer,
  resultReply,
} from '../../mcp/index.ts';
import { operationAnswer } from './answer-text.ts';
import { isList, listAnswer } from './lists.ts';
import { findRequest, OpenRequest } from './open-request.ts';
import { type Attendant, type Operation, type Request, startOperation, type Underway } from './operations.ts';
import { type Asked, createQuestions, type Questions } from './questions.ts';
import { type WatchedResources, watchResources } from './watched-resources.ts';

export interface LegacyClientDeps {
  readonly hub: Hub;
  readonly clock: Clock;
  /** For messages that belong to no request; dropped where the client has no ear for them. */
  readonly announce: (message: string) => void;
}

export interface LegacyClientFacts {
  readonly principal: string;
  readonly session: string;
  readonly askable: Askable;
  /** How long its first list may take. */
  readonly listPatienceMs: number;
}

/** A client that shook hands, whatever its transport: what it can do, what it is asked, what it listens to. */
export class LegacyClient {
  readonly identity: CallClient;
  /** For requests that nothing can be said to before their answer. */
  readonly silent: Attendant;
  readonly #deps: LegacyClientDeps;
  readonly #session: string;
  readonly #listPatienceMs: number;
  #logLevel: string | undefined;
  #calls: LinkedList<OpenRequest<Underway>> | undefined;
  #questions: Questions | undefined;
  #watched: WatchedResources | undefined;

  constructor(deps: LegacyClientDeps, { principal, session, askable, listPatienceMs }: LegacyClientFacts) {
    this.#deps = deps;
    this.#session = session;
    this.#listPatienceMs = listPatienceMs;
    this.identity = { principal, session, askable, takesRounds: false };
    if (!askable.nothing) {
      deps.hub.clients.hear(session, (method, params) => deps.announce(notification(method, params)));
    }
    const client = askable.nothing ? this.identity : { ...this.identity, askable: askableNothing };
    this.silent = { client, between: undefined, ask: undefined, log: undefined };
  }

  /** Calls of it are under way. */
  get busy(): boolean {
    return this.#calls !== undefined && this.#calls.size > 0;
  }

  /** Servers may have something to say to it besides progress. */
  isSpokenTo(caller: Caller): boolean {
    return !this.identity.askable.nothing || this.#logLevel !== undefined || this.#mayLog(caller);
  }

  /** `onGone` hears when nothing more can be said on the way of `between`. */
  attendant(caller: Caller, between: (message: string) => void, onGone: (listener: () => void) => void): Attendant {
    const logs = this.#logLevel !== undefined || this.#mayLog(caller);
    const log = logs ? { level: this.#logLevel } : undefined;
    const plain = { client: this.identity, between, ask: undefined, log };
    return this.identity.askable.nothing ? plain : { ...plain, ...this.#asking(between, onGone) };
  }

  begin(caller: Caller, request: Request, operation: Operation, attendant: Attendant): OpenRequest<Underway> {
    const started = new OpenRequest(request.id, startOperation(this.#deps.hub, caller, request, operation, attendant));
    this.#calls ??= new LinkedList();
    this.#calls.add(started);
    const { dismiss } = attendant;
    if (dismiss !== undefined) void started.work.result.then(dismiss, dismiss);
    return started;
  }

  ended(request: OpenRequest<Underway>): void {
    this.#calls?.delete(request);
  }

  /** Requests that are no operation on a server, and subscriptions. */
  async answer(caller: Caller, request: Request): Promise<string> {
    const { idText, method } = request;
    if (isList(method)) {
      return listAnswer(this.#deps.hub, caller, request, { era: 'legacy', waitMs: this.#listPatienceMs });
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
        this.#watched?.unwatch(uriOf(request));
        return resultReply(idText, '{}');
      default:
        return errorReply(idText, new HubError('METHOD_NOT_FOUND', `Method not found: ${method.slice(0, 200)}`));
    }
  }

  /** Messages that want no answer. Returns the call that was cancelled, if it was one. */
  receive(message: Message): Call | undefined {
    if (message.kind === 'response') this.#questions?.answered(message);
    if (message.kind !== 'notification') return undefined;
    if (message.method === rootsChanged) this.#deps.hub.clients.tell(this.#session, rootsChanged);
    if (message.method !== 'notifications/cancelled') return undefined;
    const { requestId, reason } = message.params;
    const call = this.#calls && findRequest(this.#calls, requestId)?.work.call;
    call?.cancel(typeof reason === 'string' ? reason.slice(0, 200) : 'by the client');
    return call;
  }

  close(): void {
    // Also where nothing was asked yet: calls go on, and what their servers ask from now on nobody answers.
    this.#questions ??= createQuestions(this.#deps.clock);
    this.#questions.close();
    this.#watched?.close();
    this.#calls = undefined;
    this.#deps.hub.clients.end(this.#session);
  }

  /** What one call asks, as long as it is open. */
  #asking(between: (message: string) => void, onGone: (listener: () => void) => void) {
    const open = new Set<Asked>();
    let listens = false;
    const ask = async (question: Question): Promise<QuestionAnswer> => {
      this.#questions ??= createQuestions(this.#deps.clock);
      const asked = this.#questions.ask(question, between);
      open.add(asked);
      // Once for all; whoever is gone is asked nothing more, for its calls are detached then.
      if (!listens) onGone(() => each(open, 'abandon'));
      listens = true;
      const answer = await asked.answer;
      open.delete(asked);
      return answer;
    };
    return { ask, dismiss: () => each(open, 'withdraw') };
  }

  #mayLog({ chain }: Caller): boolean {
    return this.#deps.hub.views.of(chain).mayLog;
  }

  #setLevel({ params: { level } }: Request): void {
    if (typeof level !== 'string' || !logLevels.includes(level)) {
      throw new HubError('INVALID_PARAMS', `"level" must be one of ${logLevels.join(', ')}.`);
    }
    this.#logLevel = level;
  }

  async #subscribe(caller: Caller, request: Request): Promise<string> {
    const uri = uriOf(request);
    this.#watched ??= watchResources(this.#deps.hub, (changed) =>
      this.#deps.announce(notification('notifications/resources/updated', { uri: changed })),
    );
    const outcome = await this.#watched.watch(caller, uri, this.identity, '');
    return operationAnswer(request.idText, 'subscription', outcome, 'legacy');
  }
}

function each(open: ReadonlySet<Asked>, end: 'abandon' | 'withdraw'): void {
  for (const asked of open) asked[end]();
}

const rootsChanged = 'notifications/roots/list_changed';

function uriOf({ method, params: { uri } }: Request): string {
  if (typeof uri === 'string') return uri;
  throw new HubError('INVALID_PARAMS', `${method} needs "uri", the URI of a resource.`);
}
