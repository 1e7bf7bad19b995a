import { HubError, toHubError } from '../../base/index.ts';
import type { Call } from '../../calls/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import { errorReply, legacyVersions, type Message, notification, resultReply } from '../../mcp/index.ts';
import {
  batchVersion,
  callAnswer,
  callTool,
  emptyResult,
  initializeResult,
  invalidMessage,
  listTools,
  methodNotFound,
  type Request,
  type ToolCall,
  toolsChanged,
  wantsProgress,
} from '../mcp/index.ts';
import type { ClientSession, ClientSessions } from './client-sessions.ts';
import type { Exchange } from './exchange.ts';
import { growingAnswer, openEventStream, sendJson, sendStatus } from './response.ts';

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
  readonly sessions: ClientSessions;
  /** Grows with every change of any list of tools. */
  readonly revision: () => number;
}

export function createLegacyFace({ hub, sessions, revision }: LegacyFaceDeps): LegacyFace {
  const listChanged = notification(toolsChanged);

  function post(exchange: Exchange, message: Message): Promise<void> | undefined {
    if (message.kind === 'request' && message.method === 'initialize') return initialize(exchange, message);
    const session = sessionOf(exchange);
    if (message.kind !== 'request') {
      receive(session, message);
      sendStatus(exchange.response, 202);
      return undefined;
    }
    return message.method === 'tools/call' ? call(exchange, session, message) : other(exchange, session, message);
  }

  async function initialize({ response, caller, owner }: Exchange, request: Request): Promise<void> {
    const { protocolVersion, text } = await initializeResult(hub, caller, request.params);
    const session = sessions.open(owner, protocolVersion);
    sendJson(response, 200, resultReply(request.idText, text), ['mcp-session-id', session.id]);
  }

  /** A closed connection is no cancellation here: the call goes on, and its end is on the ledger. */
  function call(
    { response, caller, acceptsStream }: Exchange,
    session: ClientSession,
    request: Request,
  ): Promise<void> | undefined {
    const { id, idText } = request;
    const growing = acceptsStream && wantsProgress(request) ? growingAnswer(response) : undefined;
    let started: ToolCall;
    try {
      started = callTool(hub, caller, request, growing?.between);
    } catch (error) {
      // A refusal of the HTTP request would mean to clients that the transport is broken.
      sendJson(response, 200, errorReply(idText, toHubError(error)));
      return undefined;
    }
    const { call, result } = started;
    if (growing !== undefined) response.once('close', () => call.detach());
    noteCall(session, id, call);
    return result.then((outcome) => {
      forgetCall(session, id, call);
      const text = callAnswer(idText, outcome, 'legacy');
      if (growing === undefined) sendJson(response, 200, text);
      else growing.end(text);
    });
  }

  async function other({ response, caller }: Exchange, session: ClientSession, request: Request): Promise<void> {
    sendJson(response, 200, await answerTo(session, caller, request));
  }

  async function answerTo(session: ClientSession, caller: Caller, request: Request): Promise<string> {
    switch (request.method) {
      case 'tools/list':
        session.listedAt = revision();
        return listTools(hub, caller, request, 'legacy');
      case 'ping':
        return resultReply(request.idText, emptyResult);
      default:
        return errorReply(request.idText, methodNotFound(request));
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
      receive(session, message);
      return undefined;
    });
    const texts = await Promise.all(answers.filter((answer) => answer !== undefined));
    if (texts.length === 0) sendStatus(exchange.response, 202);
    else sendJson(exchange.response, 200, `[${texts.join(',')}]`);
  }

  async function partOfBatch({ caller }: Exchange, session: ClientSession, request: Request): Promise<string> {
    try {
      if (request.method === 'initialize') throw new HubError('INVALID_REQUEST', 'A batch cannot initialize.');
      if (request.method !== 'tools/call') return await answerTo(session, caller, request);
      const { call, result } = callTool(hub, caller, request, undefined);
      noteCall(session, request.id, call);
      const outcome = await result;
      forgetCall(session, request.id, call);
      return callAnswer(request.idText, outcome, 'legacy');
    } catch (error) {
      return errorReply(request.idText, toHubError(error));
    }
  }

  function receive(session: ClientSession, message: Message): void {
    if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') return;
    const { requestId, reason } = message.params;
    const call = session.calls?.get(requestId as string | number); // anything else is not a key
    call?.cancel(typeof reason === 'string' ? reason.slice(0, 200) : 'by the client');
  }

  function get(exchange: Exchange): void {
    const session = sessionOf(exchange);
    if (!exchange.acceptsStream) {
      sendStatus(exchange.response, 406);
      return;
    }
    session.stream?.events.end();
    const { chain } = exchange.caller;
    const stream = {
      events: openEventStream(exchange.response),
      chain,
      toolsText: hub.views.of(chain).toolsText,
      authorization: exchange.headers.authorization,
    };
    session.stream = stream;
    stream.events.comment(': open\n\n');
    // What changed since the client last asked, nobody could tell it.
    if (session.listedAt !== undefined && session.listedAt !== revision()) stream.events.send(listChanged);
    exchange.response.once('close', () => {
      if (session.stream === stream) session.stream = undefined;
    });
  }

  function remove(exchange: Exchange): void {
    sessions.end(sessionOf(exchange));
    sendStatus(exchange.response, 204);
  }

  function sessionOf({ owner, headers }: Exchange): ClientSession {
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

function noteCall(session: ClientSession, id: string | number, call: Call): void {
  session.calls ??= new Map();
  session.calls.set(id, call);
}

/** The id may belong to a later call by now. */
function forgetCall(session: ClientSession, id: string | number, call: Call): void {
  if (session.calls?.get(id) === call) session.calls.delete(id);
}
