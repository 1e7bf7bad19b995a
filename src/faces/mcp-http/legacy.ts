import { type Clock, HubError, toHubError } from '../../base/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import { askableOf, errorReply, legacyVersions, type Message, notification, resultReply } from '../../mcp/index.ts';
import {
  batchVersion,
  changeMethods,
  initializeResult,
  invalidMessage,
  isList,
  isOperation,
  knownLists,
  LegacyClient,
  listPatience,
  type Operation,
  operationAnswer,
  operationOf,
  type Request,
  wantsProgress,
} from '../mcp/index.ts';
import type { ClientSessions } from './client-sessions.ts';
import type { Exchange } from './exchange.ts';
import { HttpSession } from './http-session.ts';
import { sendJson, sendStatus } from './response.ts';
import { resumableAnswer } from './resumable-answer.ts';

/** Revisions with a handshake: client sessions, a GET stream for announcements, DELETE to end. */
export interface LegacyFace {
  /** Answers at once, or returns a promise that rejects when it cannot. */
  post(exchange: Exchange, message: Message): Promise<void> | undefined;
  batch(exchange: Exchange, messages: readonly Message[]): Promise<void>;
  get(exchange: Exchange): void;
  remove(exchange: Exchange): void;
}

export interface LegacyFaceDeps {
  readonly hub: Hub;
  readonly clock: Clock;
  readonly sessions: ClientSessions<HttpSession>;
  /** Grows with every change of any list. */
  readonly revision: () => number;
  /** Throws HubError where the token that let the request in has ended since. */
  readonly checkStill: (exchange: Exchange) => void;
}

export function createLegacyFace({ hub, clock, sessions, revision, checkStill }: LegacyFaceDeps): LegacyFace {
  function post(exchange: Exchange, message: Message): Promise<void> | undefined {
    if (message.kind === 'request' && message.method === 'initialize') return initialize(exchange, message);
    const session = sessionOf(exchange);
    if (message.kind !== 'request') {
      session.client.receive(message);
      sendStatus(exchange.response, 202);
      return undefined;
    }
    return isCall(message) ? operate(exchange, session, message) : other(exchange, session, message);
  }

  async function initialize({ response, caller, owner }: Exchange, request: Request): Promise<void> {
    const { protocolVersion, text } = initializeResult(hub, caller, request.params);
    const { capabilities, clientInfo } = request.params;
    const askable = askableOf(capabilities);
    const listPatienceMs = listPatience(clientInfo);
    const { id } = sessions.open(owner, (facts) => {
      const client = { principal: owner, session: facts.id, askable, listPatienceMs };
      return new HttpSession(
        clock,
        facts,
        protocolVersion,
        (announce) => new LegacyClient({ hub, clock, announce }, client),
      );
    });
    sendJson(response, 200, resultReply(request.idText, text), ['mcp-session-id', id]);
  }

  /** A closed connection is no cancellation here: the call goes on, and its end is on the ledger. */
  function operate(exchange: Exchange, session: HttpSession, request: Request): Promise<void> | undefined {
    const { response, caller, acceptsStream } = exchange;
    const { client, streams } = session;
    const { idText } = request;
    const spokenTo = acceptsStream && (wantsProgress(request) || client.isSpokenTo(caller));
    const growing = spokenTo ? resumableAnswer(response, streams) : undefined;
    exchange.growing = growing;
    const attendant = growing === undefined ? client.silent : client.attendant(caller, growing.between, growing.onGone);
    let operation: Operation;
    try {
      operation = operationOf(request);
    } catch (error) {
      // A refusal of the HTTP request would mean to clients that the transport is broken.
      sendJson(response, 200, errorReply(idText, toHubError(error)));
      return undefined;
    }
    const begun = client.begin(caller, request, operation, attendant);
    growing?.onGone(() => begun.work.call.detach());
    if (acceptsStream) streams.await(exchange, session.lastRequest);
    return begun.work.result.then((outcome) => {
      client.ended(begun);
      streams.answered(exchange);
      const text = operationAnswer(idText, operation.kind, outcome, 'legacy');
      if (exchange.growing === undefined) sendJson(response, 200, text);
      else exchange.growing.end(text);
    });
  }

  async function other(exchange: Exchange, session: HttpSession, request: Request): Promise<void> {
    const answer = await answerTo(session, exchange.caller, request);
    // A first list may wait for long; whose token ended meanwhile has no list.
    checkStill(exchange);
    sendJson(exchange.response, 200, answer);
  }

  async function answerTo(session: HttpSession, caller: Caller, request: Request): Promise<string> {
    if (isList(request.method)) session.listedAt = revision();
    try {
      return await session.client.answer(caller, request);
    } catch (error) {
      return errorReply(request.idText, toHubError(error));
    }
  }

  async function batch(exchange: Exchange, messages: readonly Message[]): Promise<void> {
    const session = sessionOf(exchange);
    if (session.protocolVersion !== batchVersion) {
      throw new HubError('INVALID_REQUEST', `Protocol version ${session.protocolVersion} has no batches.`);
    }
    if (messages.length === 0) throw new HubError('INVALID_REQUEST', 'The batch is empty.');
    const answers = messages.map((message) => {
      if (message.kind === 'request') return partOfBatch(exchange, session, message);
      if (message.kind === 'invalid') return errorReply('null', invalidMessage(message.reason));
      session.client.receive(message);
      return undefined;
    });
    const texts = await Promise.all(answers.filter((answer) => answer !== undefined));
    if (texts.length === 0) sendStatus(exchange.response, 202);
    else sendJson(exchange.response, 200, `[${texts.join(',')}]`);
  }

  async function partOfBatch({ caller }: Exchange, session: HttpSession, request: Request): Promise<string> {
    const { client } = session;
    try {
      if (request.method === 'initialize') throw new HubError('INVALID_REQUEST', 'A batch cannot initialize.');
      if (!isCall(request)) return await answerTo(session, caller, request);
      const operation = operationOf(request);
      const begun = client.begin(caller, request, operation, client.silent);
      const outcome = await begun.work.result;
      client.ended(begun);
      return operationAnswer(request.idText, operation.kind, outcome, 'legacy');
    } catch (error) {
      return errorReply(request.idText, toHubError(error));
    }
  }

  function get(exchange: Exchange): void {
    const session = sessionOf(exchange);
    if (!exchange.acceptsStream) {
      sendStatus(exchange.response, 406);
      return;
    }
    const resumed = session.streams.find(exchange.headers['last-event-id']);
    if (resumed?.isAnswer) {
      resumed.log.attach(exchange.response, resumed.after);
      return;
    }
    const { chain } = exchange.caller;
    const stream = {
      events: session.streams.listen(exchange.response, resumed?.after),
      chain,
      lists: knownLists(hub.views.of(chain)),
      authorization: exchange.headers.authorization,
    };
    session.stream = stream;
    stream.events.write(': open\n\n');
    // What changed since the client last asked, nobody could tell it.
    if (session.listedAt !== undefined && session.listedAt !== revision()) {
      for (const method of Object.values(changeMethods)) stream.events.send(notification(method));
    }
    exchange.response.once('close', () => {
      if (session.stream === stream) session.stream = undefined;
    });
  }

  function remove(exchange: Exchange): void {
    sessions.end(sessionOf(exchange));
    sendStatus(exchange.response, 204);
  }

  function sessionOf({ owner, headers }: Exchange): HttpSession {
    const version = headers['mcp-protocol-version'];
    // Some clients never send it; then the session knows.
    if (version !== undefined && !legacyVersions.includes(version.trim())) {
      throw new HubError('INVALID_REQUEST', `Protocol version ${version.slice(0, 40)} is not supported.`, {
        details: { supported: legacyVersions },
      });
    }
    const id = headers['mcp-session-id'];
    if (id === undefined) {
      throw new HubError('INVALID_REQUEST', 'The Mcp-Session-Id header is missing.', {
        hint: 'Send initialize first.',
      });
    }
    const session = sessions.find(id, owner);
    if (session !== undefined) return session;
    throw new HubError('SESSION_UNKNOWN', 'Session not found.', { hint: 'Send initialize again.' });
  }

  return { post, batch, get, remove };
}

/** To subscribe acts on a server too, but lasts as long as the client. */
function isCall({ method }: Request): boolean {
  return method === 'tools/call' || (method !== 'resources/subscribe' && isOperation(method));
}
