import type { ServerResponse } from 'node:http';
import { HubError, toHubError } from '../../base/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import { type Body, errorReply, legacyVersions, type Message, resultReply } from '../../mcp/index.ts';
import { callTool, emptyResult, initializeResult, listTools, methodNotFound, type Request } from '../mcp/index.ts';
import type { ClientSession, ClientSessions } from './client-sessions.ts';
import type { Exchange } from './exchange.ts';
import { growingAnswer, openEventStream, sendJson, sendStatus } from './response.ts';

/** Revisions with a handshake: client sessions, a GET stream for announcements, DELETE to end. */
export interface LegacyFace {
  post(exchange: Exchange, body: Body): Promise<void>;
  get(exchange: Exchange): void;
  remove(exchange: Exchange): void;
}

/** Only this revision knows batches. */
const batchVersion = '2025-03-26';

export function createLegacyFace(deps: { readonly hub: Hub; readonly sessions: ClientSessions }): LegacyFace {
  const { hub, sessions } = deps;

  async function post(exchange: Exchange, body: Body): Promise<void> {
    const first = body.messages[0];
    if (!body.batch && first?.kind === 'request' && first.method === 'initialize') {
      initialize(exchange, first);
      return;
    }
    const session = sessionOf(exchange);
    if (body.batch) await batch(exchange, session, body.messages);
    else if (first?.kind === 'request') await single(exchange, session, first);
    else {
      if (first !== undefined) receive(session, first);
      sendStatus(exchange.response, 202);
    }
  }

  function initialize({ response, caller, owner }: Exchange, request: Request): void {
    const { protocolVersion, text } = initializeResult(request.params);
    const session = sessions.open(owner, protocolVersion);
    sendJson(response, 200, resultReply(request.idText, text), ['mcp-session-id', session.id]);
    // Servers that nobody has seen start while the client is still getting ready to ask.
    void hub.views.settled(caller.chain);
  }

  async function single(
    { response, caller, acceptsStream }: Exchange,
    session: ClientSession,
    request: Request,
  ): Promise<void> {
    const answer = growingAnswer(response, acceptsStream);
    answer.end(await answerTo(session, caller, request, answer.between, response));
  }

  async function batch(
    { response, caller }: Exchange,
    session: ClientSession,
    messages: readonly Message[],
  ): Promise<void> {
    if (session.protocolVersion !== batchVersion || messages.length === 0) {
      throw new HubError('INVALID_REQUEST', `Protocol version ${session.protocolVersion} has no batches.`);
    }
    const answers = messages.map((message) => {
      if (message.kind === 'request') return answerTo(session, caller, message, undefined, response);
      receive(session, message);
      return undefined;
    });
    const texts = await Promise.all(answers.filter((answer) => answer !== undefined));
    if (texts.length === 0) sendStatus(response, 202);
    else sendJson(response, 200, `[${texts.join(',')}]`);
  }

  async function answerTo(
    session: ClientSession,
    caller: Caller,
    request: Request,
    between: ((message: string) => void) | undefined,
    response: ServerResponse,
  ): Promise<string> {
    try {
      switch (request.method) {
        case 'tools/call':
          return await call(session, caller, request, between, response);
        case 'tools/list':
          return await listTools(hub, caller, request, 'legacy');
        case 'ping':
          return resultReply(request.idText, emptyResult);
        case 'initialize':
          throw new HubError('INVALID_REQUEST', 'initialize cannot be part of a batch.');
        default:
          throw methodNotFound(request);
      }
    } catch (error) {
      return errorReply(request.idText, toHubError(error));
    }
  }

  /** A closed connection is no cancellation here: the call goes on, and its end is on the ledger. */
  async function call(
    session: ClientSession,
    caller: Caller,
    request: Request,
    between: ((message: string) => void) | undefined,
    response: ServerResponse,
  ): Promise<string> {
    const { call, answer } = callTool(hub, caller, request, 'legacy', between);
    session.calls ??= new Map();
    session.calls.set(request.id, call);
    if (call.request.channel !== undefined) response.once('close', () => call.detach());
    try {
      return await answer;
    } finally {
      session.calls?.delete(request.id);
    }
  }

  function receive(session: ClientSession, message: Message): void {
    if (message.kind === 'invalid') throw new HubError('INVALID_REQUEST', `Not a JSON-RPC message: ${message.reason}.`);
    if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') return;
    const { requestId, reason } = message.params;
    const call = session.calls?.get(requestId as string | number); // anything else is not a key
    call?.cancel(typeof reason === 'string' ? reason.slice(0, 200) : 'by the client');
  }

  function get(exchange: Exchange): void {
    if (!exchange.acceptsStream) throw new HubError('INVALID_REQUEST', 'GET needs "Accept: text/event-stream".');
    const session = sessionOf(exchange);
    session.stream?.events.end();
    const { chain } = exchange.caller;
    const stream = {
      events: openEventStream(exchange.response),
      chain,
      toolsText: hub.views.of(chain).toolsText,
      stillAllowed: exchange.stillAllowed,
    };
    session.stream = stream;
    stream.events.comment(': open\n\n');
    exchange.response.once('close', () => {
      if (session.stream === stream) session.stream = undefined;
    });
  }

  function remove(exchange: Exchange): void {
    sessions.end(sessionOf(exchange));
    sendStatus(exchange.response, 204);
  }

  function sessionOf({ owner, request: { headers } }: Exchange): ClientSession {
    const version = headers['mcp-protocol-version'];
    // Some clients never send it; then the session knows.
    if (typeof version === 'string' && !legacyVersions.includes(version.trim())) {
      throw new HubError('INVALID_REQUEST', `Protocol version ${version.slice(0, 40)} is not supported.`, {
        details: { supported: legacyVersions },
      });
    }
    const id = headers['mcp-session-id'];
    if (typeof id !== 'string') {
      throw new HubError('INVALID_REQUEST', 'The Mcp-Session-Id header is missing.', {
        hint: 'Send initialize first.',
      });
    }
    const session = sessions.find(id, owner);
    if (session !== undefined) return session;
    throw new HubError('SESSION_UNKNOWN', 'Session not found.', { hint: 'Send initialize again.' });
  }

  return { post, get, remove };
}
