import {
  type Clock,
  containTimers,
  createId,
  defectFields,
  HubError,
  LinkedList,
  type Logger,
  type RandomBytes,
  type Timer,
  toHubError,
} from '../../base/index.ts';
import { createParkedCalls, type ParkedCalls } from '../../calls/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import {
  askableNothing,
  askableOf,
  type Body,
  classify,
  type Era,
  errorReply,
  legacyConnectionVersions,
  type Message,
  notification,
  resultReply,
} from '../../mcp/index.ts';
import { admitTask } from './admit-task.ts';
import { operationAnswer } from './answer-text.ts';
import { batchVersion, invalidMessage, methodNotFound } from './faults.ts';
import { LegacyClient } from './legacy-client.ts';
import { listPatience, modernListPatience } from './list-patience.ts';
import { changeMethods, isList, type KnownLists, knownLists, listAnswer, takeChanges } from './lists.ts';
import { findRequest, OpenRequest } from './open-request.ts';
import { isOperation, isTaskOperation, operationOf, type Request } from './operations.ts';
import { createRounds, parkedLimits, type Round, type Rounds } from './rounds.ts';
import { discoverResult, initializeResult } from './server-card.ts';
import { StandingSubscriptions } from './standing-subscriptions.ts';

export interface ConversationDeps {
  readonly hub: Hub;
  readonly caller: Caller;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: RandomBytes;
  /** When the client began to wait, on the clock's own scale, where that was before its first message. */
  readonly startedAt?: number | undefined;
  send(message: string): void;
  /** The client is behind with reading; messages in between are worth nothing to it then. */
  isBehind(): boolean;
  /** Whenever the last request has its answer. */
  onIdle(): void;
  /** Handling the connection failed for a reason that lies in the hub: the connection is to be closed. */
  onDefect(error: unknown): void;
}

/** Several servers often change at once; clients hear of it once. */
const gatherMs = 50;
const noHeaders = { protocolVersion: undefined, method: undefined, name: undefined };

/** One client on one connection over which messages go both ways. Its first message decides on the era. */
export class Conversation {
  readonly #deps: ConversationDeps;
  readonly #parked: ParkedCalls;
  readonly #rounds: Rounds;
  readonly #running = new LinkedList<OpenRequest<Round>>();
  readonly #subscriptions: StandingSubscriptions;
  readonly #stop: () => void;
  #era: Era | undefined;
  #protocolVersion: string | undefined;
  #client: LegacyClient;
  /** Requests whose answers the client does not want any more. */
  readonly #unwanted = new Set<object>();
  #lists: KnownLists | undefined;
  #gathering: Timer | undefined;
  #open = 0;

  constructor(deps: ConversationDeps) {
    const { hub, random, send, onDefect } = deps;
    const clock = containTimers(deps.clock, onDefect);
    this.#deps = { ...deps, clock };
    this.#parked = createParkedCalls({ clock, newId: () => createId(random, 26) }, parkedLimits);
    this.#rounds = createRounds({ hub, parked: this.#parked });
    this.#subscriptions = new StandingSubscriptions(hub, send);
    this.#client = this.#newClient(askableNothing);
    this.#stop = hub.views.onRenew(() => {
      this.#gathering ??= clock.setTimer(gatherMs, () => this.#announce());
    });
  }

  /** Requests that have no answer yet. */
  get open(): number {
    return this.#open;
  }

  receive({ batch, messages }: Body): void {
    const first = messages[0];
    if (batch) this.#batch(messages).catch(this.#deps.onDefect);
    else if (first !== undefined) this.#single(first).catch(this.#deps.onDefect);
  }

  close(): void {
    this.#stop();
    this.#gathering?.cancel();
    this.#subscriptions.close();
    this.#parked.close('client-gone');
    this.#client.close();
  }

  async #single(message: Message): Promise<void> {
    const answer = await this.#handle(message);
    if (answer !== undefined) this.#deps.send(answer);
    if (this.#open === 0) this.#deps.onIdle();
  }

  async #batch(messages: readonly Message[]): Promise<void> {
    if (this.#protocolVersion !== batchVersion || messages.length === 0) {
      this.#deps.send(errorReply('null', new HubError('INVALID_REQUEST', 'This connection has no batches.')));
      return;
    }
    const answers = await Promise.all(messages.map((message) => this.#handle(message)));
    const texts = answers.filter((answer) => answer !== undefined);
    if (texts.length > 0) this.#deps.send(`[${texts.join(',')}]`);
    if (this.#open === 0) this.#deps.onIdle();
  }

  /** The answer to one message; undefined where none is due. */
  async #handle(message: Message): Promise<string | undefined> {
    if (message.kind === 'invalid') return errorReply('null', invalidMessage(message.reason));
    if (message.kind !== 'request') {
      this.#notified(message);
      return undefined;
    }
    this.#open++;
    try {
      return await this.#answer(message);
    } catch (error) {
      const known = toHubError(error);
      if (known.code === 'INTERNAL') this.#deps.logger.error('request_failed', defectFields(known));
      return errorReply(message.idText, known);
    } finally {
      this.#open--;
    }
  }

  #answer(request: Request): Promise<string | undefined> {
    const { hub, caller } = this.#deps;
    if (this.#eraOf(request) === 'modern') return this.#answerModern(request);
    if (isList(request.method)) this.#lists ??= knownLists(hub.views.of(caller.chain));
    if (request.method === 'initialize') return this.#initialize(request);
    if (request.method !== 'resources/subscribe' && isOperation(request.method)) return this.#operate(request);
    return this.#client.answer(caller, request);
  }

  async #answerModern(request: Request): Promise<string | undefined> {
    const { hub, caller } = this.#deps;
    const { method, idText } = request;
    if (isOperation(method) && method !== 'resources/subscribe') return this.#round(request);
    if (isTaskOperation(method)) {
      await admitTask(hub, caller, request);
      return this.#round(request);
    }
    if (isList(method)) {
      const waitMs = this.#remaining(modernListPatience(request.params));
      return listAnswer(hub, caller, request, { era: 'modern', waitMs });
    }
    if (method === 'server/discover') return resultReply(idText, discoverResult(hub, caller));
    if (method !== 'subscriptions/listen') throw methodNotFound(request);
    this.#lists ??= knownLists(hub.views.of(caller.chain));
    await this.#subscriptions.open(caller, request);
    return undefined;
  }

  async #initialize(request: Request): Promise<string> {
    const { hub, caller } = this.#deps;
    const { capabilities, clientInfo } = request.params;
    // At once: some clients send their first call without waiting for the answer.
    this.#client.close();
    this.#client = this.#newClient(askableOf(capabilities), this.#remaining(listPatience(clientInfo)));
    const { protocolVersion, text } = initializeResult(hub, caller, request.params, legacyConnectionVersions);
    this.#protocolVersion = protocolVersion;
    // From here on: nothing may be announced before this answer.
    this.#lists ??= knownLists(hub.views.of(caller.chain));
    return resultReply(request.idText, text);
  }

  /** A client that starts its server counts from there. */
  #remaining(patienceMs: number): number {
    const { clock, startedAt } = this.#deps;
    return startedAt === undefined ? patienceMs : Math.max(0, startedAt + patienceMs - clock.monotonic());
  }

  #newClient(askable: ReturnType<typeof askableOf>, listPatienceMs = listPatience(undefined)): LegacyClient {
    const { hub, clock, random, send } = this.#deps;
    const session = createId(random, 26);
    return new LegacyClient({ hub, clock, announce: send }, { principal: session, session, askable, listPatienceMs });
  }

  /** A modern claim is checked on every message; without one the connection is legacy for good. */
  #eraOf(request: Request): Era {
    const claimed = classify(request, noHeaders);
    this.#era ??= claimed;
    // A client may ask the modern question first and fall back to the handshake.
    if (request.method === 'initialize' && claimed === 'legacy') this.#era = 'legacy';
    if (claimed === 'legacy' && this.#era === 'modern') {
      throw new HubError('INVALID_PARAMS', 'Every request of this connection must name its protocol version.');
    }
    return this.#era;
  }

  async #operate(request: Request): Promise<string | undefined> {
    const { caller } = this.#deps;
    const operation = operationOf(request);
    const attendant = this.#client.attendant(caller, this.#between, () => {});
    const client = this.#client;
    const begun = client.begin(caller, request, operation, attendant);
    const outcome = await begun.work.result;
    client.ended(begun);
    return this.#unwanted.delete(begun.work.call)
      ? undefined
      : operationAnswer(request.idText, operation.kind, outcome, 'legacy');
  }

  async #round(request: Request): Promise<string | undefined> {
    const running = new OpenRequest(request.id, this.#rounds.begin(this.#deps.caller, request, this.#between));
    this.#running.add(running);
    const { text } = await running.work.answer;
    this.#running.delete(running);
    return this.#unwanted.delete(running) ? undefined : text;
  }

  /** A question is no less worth to a client that is behind: the call waits for it. */
  readonly #between = (message: string): void => {
    if (!this.#deps.isBehind() || message.startsWith('{"jsonrpc":"2.0","id":')) this.#deps.send(message);
  };

  #notified(message: Message & { readonly kind: 'notification' | 'response' }): void {
    const cancelled = this.#client.receive(message);
    if (cancelled !== undefined) this.#unwanted.add(cancelled);
    if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') return;
    const { requestId, reason } = message.params;
    this.#subscriptions.cancel(requestId as string | number); // anything else is not a key
    const running = findRequest(this.#running, requestId);
    if (running === undefined) return;
    this.#unwanted.add(running);
    running.work.cancel(typeof reason === 'string' ? reason.slice(0, 200) : 'by the client');
  }

  #announce(): void {
    this.#gathering = undefined;
    const { hub, caller, send } = this.#deps;
    const view = hub.views.of(caller.chain);
    if (this.#lists === undefined) return;
    // Of a server that was just added there is nothing to tell until it was asked, and who waits for word does not ask.
    if (view.unseen.length > 0) hub.views.discover(caller.chain);
    for (const list of takeChanges(this.#lists, view)) {
      if (this.#era === 'legacy') send(notification(changeMethods[list]));
      this.#subscriptions.announce(list);
    }
  }
}
