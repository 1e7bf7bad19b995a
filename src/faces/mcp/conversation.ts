import {
  type Clock,
  containTimers,
  createId,
  defectFields,
  HubError,
  LinkedList,
  type Logger,
  type RandomBytes,
  toHubError,
} from '../../base/index.ts';
import {
  type CallsAwaitingInput,
  createCallsAwaitingInput,
  type ListDigests,
  type ListKind,
} from '../../calls/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import {
  type Body,
  classify,
  clientCapabilitiesOf,
  type Era,
  errorReply,
  legacyConnectionVersions,
  type Message,
  noClientCapabilities,
  notification,
  resultReply,
} from '../../mcp/index.ts';
import { admitTask } from './admit-task.ts';
import { type CountedAnswers, operationAnswer } from './answer-text.ts';
import { BatchLists } from './batch-lists.ts';
import { ConnectionListens } from './connection-listens.ts';
import { holdBody } from './held-requests.ts';
import { discoverResult, initializeResult } from './initialize-result.ts';
import { LegacyClient } from './legacy-client.ts';
import { ListAnnouncer, type ListListener } from './list-announcer.ts';
import { addLists, changeMethods, type ListName, listKindsOf } from './list-changes.ts';
import { ListQueue } from './list-queue.ts';
import { clientNameOf, listTimeout, modernListClient } from './list-timeout.ts';
import { listenFilter } from './listen-messages.ts';
import { isList, listAnswer, listKinds } from './lists.ts';
import { awaitingInputLimits, MultiRoundTrips, type RoundTripRequest } from './multi-round-trips.ts';
import { findRequest, OpenRequest } from './open-request.ts';
import { isOperation, isTaskOperation, operationOf, type Request } from './operations.ts';
import { batchVersion, invalidMessage, methodNotFound } from './protocol-errors.ts';

export interface ConversationDeps {
  readonly hub: Hub;
  readonly caller: Caller;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: RandomBytes;
  /** When the client began to wait, on the monotonic clock, if that was before its first message. */
  readonly startedAt?: number | undefined;
  send(message: string): void;
  /** Counts answers that the client has not read yet. */
  countAnswers?(): CountedAnswers;
  /** Resolves when the client has read most of what was sent; undefined if it has. */
  whenRead?(): Promise<void> | undefined;
  /** The client is slow to read, so progress and logs are left out. */
  isBehind(): boolean;
  /** Called whenever all requests are answered. */
  onIdle(): void;
  /** A defect in the hub: the connection must be closed. */
  onDefect(error: unknown): void;
}

const noHeaders = { protocolVersion: undefined, method: undefined, name: undefined };

/** One client on a connection that carries messages both ways. Its first message decides the era. */
export class Conversation {
  readonly #deps: ConversationDeps;
  readonly #awaitingInput: CallsAwaitingInput;
  readonly #roundTrips: MultiRoundTrips;
  readonly #running = new LinkedList<OpenRequest<RoundTripRequest>>();
  readonly #subscriptions: ConnectionListens;
  readonly #announcer: ListAnnouncer;
  #era: Era | undefined;
  #protocolVersion: string | undefined;
  #client: LegacyClient;
  /** Cancelled requests: their answers are not sent. */
  readonly #unwanted = new Set<object>();
  #lists: ListDigests | undefined;
  readonly #listQueue: ListQueue;
  #open = 0;

  constructor(deps: ConversationDeps) {
    const { hub, random, send, onDefect } = deps;
    const clock = containTimers(deps.clock, onDefect);
    this.#deps = { ...deps, clock };
    this.#awaitingInput = createCallsAwaitingInput({ clock, newId: () => createId(random, 26) }, awaitingInputLimits);
    this.#roundTrips = new MultiRoundTrips({ hub, awaitingInput: this.#awaitingInput });
    this.#subscriptions = new ConnectionListens(hub, send);
    this.#client = this.#newClient(noClientCapabilities);
    this.#listQueue = new ListQueue(() => deps.whenRead?.());
    this.#announcer = new ListAnnouncer({ lists: hub.lists, clock }, () => this.#listeners());
  }

  /** The number of requests that are not answered yet. */
  get open(): number {
    return this.#open;
  }

  receive(body: Body): void {
    const work = body.heldBytes === 0 ? this.#take(body) : this.#takeLarge(body);
    work?.catch(this.#deps.onDefect);
  }

  close(): void {
    this.#announcer.close();
    this.#subscriptions.close();
    this.#awaitingInput.close('client-gone');
    this.#client.close();
  }

  #take({ batch, messages }: Body): Promise<void> | undefined {
    const first = messages[0];
    if (batch) return this.#batch(messages);
    return first && this.#single(first);
  }

  async #takeLarge(body: Body): Promise<void> {
    let release: () => void;
    try {
      release = holdBody(this.#deps.caller, body);
    } catch (error) {
      const first = body.messages[0];
      const idText = !body.batch && first?.kind === 'request' ? first.idText : 'null';
      this.#deps.send(errorReply(idText, toHubError(error)));
      return;
    }
    await this.#take(body)?.finally(release);
  }

  async #single(message: Message): Promise<void> {
    const counted = this.#deps.countAnswers?.();
    const answer = await this.#handle(message, counted);
    counted?.release();
    if (answer !== undefined) this.#deps.send(answer);
    if (this.#open === 0) this.#deps.onIdle();
  }

  async #batch(messages: readonly Message[]): Promise<void> {
    if (this.#protocolVersion !== batchVersion || messages.length === 0) {
      this.#deps.send(
        errorReply('null', new HubError('INVALID_REQUEST', 'Batches are not supported on this connection.')),
      );
      return;
    }
    const lists = new BatchLists();
    const counted = this.#deps.countAnswers?.();
    const answers = await Promise.all(messages.map((message) => this.#handle(message, counted, lists)));
    counted?.release();
    const texts = answers.filter((answer) => answer !== undefined);
    if (texts.length > 0) this.#deps.send(`[${texts.join(',')}]`);
    if (this.#open === 0) this.#deps.onIdle();
  }

  /** The answer to one message; undefined for a message without one. */
  async #handle(message: Message, counted?: CountedAnswers, lists?: BatchLists): Promise<string | undefined> {
    if (message.kind === 'invalid') return errorReply('null', invalidMessage(message.reason));
    if (message.kind !== 'request') {
      this.#notified(message);
      return undefined;
    }
    this.#open++;
    try {
      const { idText, method } = message;
      const text = await (isList(method) ? this.#answerList(message, lists) : this.#answer(message));
      return counted === undefined || text === undefined ? text : counted.add({ idText, text, ran: !isList(method) });
    } catch (error) {
      const known = toHubError(error);
      if (known.code === 'INTERNAL') this.#deps.logger.error('mcp.request-failed', defectFields(known));
      return errorReply(message.idText, known);
    } finally {
      this.#open--;
    }
  }

  #answerList(request: Request, lists: BatchLists | undefined): Promise<string | undefined> {
    const make = (): Promise<string | undefined> => this.#answer(request);
    return lists === undefined ? this.#listQueue.answer(make) : lists.answer(request.idText, make);
  }

  #answer(request: Request): Promise<string | undefined> {
    const { caller } = this.#deps;
    if (this.#eraOf(request) === 'modern') return this.#answerModern(request);
    const list = listKinds.get(request.method);
    if (list !== undefined) this.#knowLists([list]);
    if (request.method === 'initialize') return this.#initialize(request);
    if (request.method !== 'resources/subscribe' && isOperation(request.method)) return this.#operate(request);
    return this.#client.answer(caller, request);
  }

  async #answerModern(request: Request): Promise<string | undefined> {
    const { hub, caller } = this.#deps;
    const { method, idText } = request;
    if (isOperation(method) && method !== 'resources/subscribe') return this.#roundTrip(request);
    if (isTaskOperation(method)) {
      await admitTask(hub, caller, request);
      return this.#roundTrip(request);
    }
    if (isList(method)) {
      const client = modernListClient(request.params);
      return listAnswer(hub, caller, request, { ...client, waitMs: this.#remaining(client.waitMs) });
    }
    if (method === 'server/discover') return resultReply(idText, discoverResult(hub, caller));
    if (method !== 'subscriptions/listen') throw methodNotFound(request);
    this.#knowLists(listKindsOf(listenFilter(request.params).lists));
    await this.#subscriptions.open(caller, request);
    return undefined;
  }

  async #initialize(request: Request): Promise<string> {
    const { hub, caller } = this.#deps;
    const { capabilities, clientInfo } = request.params;
    // Before the answer is written, because some clients send their first call without waiting for it.
    this.#client.close();
    this.#client = this.#newClient(clientCapabilitiesOf(capabilities), clientInfo);
    this.#client.initialized(caller);
    const { protocolVersion, text } = initializeResult(hub, caller, request.params, legacyConnectionVersions);
    this.#protocolVersion = protocolVersion;
    // Changes are announced from here on: none may come before this answer.
    this.#knowLists([]);
    return resultReply(request.idText, text);
  }

  /** A client that started this process has waited since then. */
  #remaining(timeoutMs: number): number {
    const { clock, startedAt } = this.#deps;
    return startedAt === undefined ? timeoutMs : Math.max(0, startedAt + timeoutMs - clock.monotonic());
  }

  #newClient(clientCapabilities: ReturnType<typeof clientCapabilitiesOf>, clientInfo?: unknown): LegacyClient {
    const { hub, clock, random, send } = this.#deps;
    const session = createId(random, 26);
    const listTimeoutMs = this.#remaining(listTimeout(clientInfo));
    const facts = { principal: session, session, clientCapabilities, name: clientNameOf(clientInfo), listTimeoutMs };
    return new LegacyClient({ hub, clock, announce: send }, facts);
  }

  /** Every message that claims a modern version is checked; a connection without such a claim stays legacy. */
  #eraOf(request: Request): Era {
    const claimed = classify(request, noHeaders);
    this.#era ??= claimed;
    // A client may try server/discover first and fall back to the handshake.
    if (request.method === 'initialize' && claimed === 'legacy') this.#era = 'legacy';
    if (claimed === 'legacy' && this.#era === 'modern') {
      throw new HubError('INVALID_PARAMS', 'Every request of this connection must name its protocol version.');
    }
    return this.#era;
  }

  async #operate(request: Request): Promise<string | undefined> {
    const { caller } = this.#deps;
    const operation = operationOf(request);
    const handlers = this.#client.handlers(caller, this.#between, () => {});
    const client = this.#client;
    const begun = client.begin(caller, request, operation, handlers);
    const outcome = await begun.work.result;
    client.ended(begun);
    return this.#unwanted.delete(begun.work.call)
      ? undefined
      : operationAnswer(request.idText, operation.kind, outcome, 'legacy');
  }

  async #roundTrip(request: Request): Promise<string | undefined> {
    const running = new OpenRequest(request.id, this.#roundTrips.begin(this.#deps.caller, request, this.#carrier));
    this.#running.add(running);
    const { text } = await running.work.answer;
    this.#running.delete(running);
    return this.#unwanted.delete(running) ? undefined : text;
  }

  /** Server requests go to a slow client too, because the call waits for the answer. */
  readonly #between = (message: string): void => {
    if (!this.#deps.isBehind() || message.startsWith('{"jsonrpc":"2.0","id":')) this.#deps.send(message);
  };

  readonly #carrier = { between: this.#between };

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

  #knowLists(asked: readonly ListKind[]): void {
    const { hub, caller } = this.#deps;
    this.#lists = addLists(this.#lists ?? {}, hub.lists, caller, asked);
  }

  /** None until the client knows its lists. */
  #listeners(): readonly ListListener[] {
    const { caller, onDefect } = this.#deps;
    const lists = this.#lists;
    if (lists === undefined) return [];
    return [{ caller, lists, announce: (list) => this.#announce(list), fail: onDefect }];
  }

  #announce(list: ListName): void {
    if (this.#era === 'legacy') this.#deps.send(notification(changeMethods[list]));
    this.#subscriptions.announce(list);
  }
}
