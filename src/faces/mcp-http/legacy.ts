import { toHubError } from '../../base/index.ts';
import { clientCapabilitiesOf, errorReply, type Message, resultReply } from '../../mcp/index.ts';
import {
  clientNameOf,
  initializeResult,
  LegacyClient,
  listTimeout,
  type Operation,
  operationAnswer,
  operationOf,
  type Request,
  wantsProgress,
} from '../mcp/index.ts';
import type { Exchange } from './exchange.ts';
import { answerTo, isCall, type LegacyDeps, sessionOf } from './legacy-session.ts';
import { sendAnswer, sendJson, sendStatus } from './response.ts';
import { HttpSession } from './sessions/http-session.ts';
import { resumableAnswer } from './sessions/resumable-answer.ts';

/**
 * A posted message of a protocol version with a handshake. Answers at once, or returns a promise that rejects when it
 * cannot.
 */
export function postLegacy(deps: LegacyDeps, exchange: Exchange, message: Message): Promise<void> | undefined {
  if (message.kind === 'request' && message.method === 'initialize') return initialize(deps, exchange, message);
  const session = sessionOf(deps, exchange);
  if (message.kind !== 'request') {
    session.client.receive(message);
    sendStatus(exchange.response, 202);
    return undefined;
  }
  return isCall(message) ? operate(exchange, session, message) : other(deps, exchange, session, message);
}

/** Answers DELETE: the client ends its session. */
export function endSession(deps: LegacyDeps, exchange: Exchange): void {
  deps.sessions.end(sessionOf(deps, exchange));
  sendStatus(exchange.response, 204);
}

async function initialize(
  { hub, clock, sessions }: LegacyDeps,
  { response, caller, owner }: Exchange,
  request: Request,
): Promise<void> {
  const { protocolVersion, text } = initializeResult(hub, caller, request.params);
  const { capabilities, clientInfo } = request.params;
  const clientCapabilities = clientCapabilitiesOf(capabilities);
  const listTimeoutMs = listTimeout(clientInfo);
  const { id } = sessions.open(owner, (facts) => {
    const name = clientNameOf(clientInfo);
    const client = { principal: owner, session: facts.id, clientCapabilities, name, listTimeoutMs };
    return new HttpSession(
      clock,
      facts,
      protocolVersion,
      (announce) => new LegacyClient({ hub, clock, announce }, client),
    );
  });
  hub.clients.begin(id, caller);
  sendJson(response, 200, resultReply(request.idText, text), ['mcp-session-id', id]);
}

/** A closed connection does not cancel in these versions: the call goes on, and the ledger records its end. */
function operate(exchange: Exchange, session: HttpSession, request: Request): Promise<void> | undefined {
  const { response, caller, acceptsStream } = exchange;
  const { client, streams } = session;
  const { idText } = request;
  const spokenTo = acceptsStream && (wantsProgress(request) || client.mayReceiveMessages(caller));
  const growing = spokenTo ? resumableAnswer(response, streams) : undefined;
  exchange.growing = growing;
  const handlers = growing === undefined ? client.silent : client.handlers(caller, growing.between, growing.onGone);
  let operation: Operation;
  try {
    operation = operationOf(request);
  } catch (error) {
    // Clients would take an HTTP error for a broken transport.
    sendJson(response, 200, errorReply(idText, toHubError(error)));
    return undefined;
  }
  const { kind } = operation;
  const begun = client.begin(caller, request, operation, handlers);
  growing?.onGone(() => begun.work.call.detach());
  if (acceptsStream) streams.await(exchange, session.lastRequest);
  return begun.work.result.then((outcome) => {
    client.ended(begun);
    streams.answered(exchange);
    const text = operationAnswer(idText, kind, outcome, 'legacy');
    const answer = { idText, text, ran: true };
    if (exchange.growing === undefined) sendAnswer(response, answer);
    else exchange.growing.end(answer);
  });
}

async function other(deps: LegacyDeps, exchange: Exchange, session: HttpSession, request: Request): Promise<void> {
  const answer = await answerTo(deps, session, exchange.caller, request);
  // A first list may wait for long, and the token may have ended meanwhile.
  deps.recheckToken(exchange);
  sendAnswer(exchange.response, { idText: request.idText, text: answer, ran: false });
}
