import { contain, type Logger } from '../../base/index.ts';
import type { CallResult } from '../../calls/index.ts';
import { type MultiRoundTrips, mayReceiveMessages, type Request } from '../mcp/index.ts';
import type { Exchange } from './exchange.ts';
import { jsonOrStream, sendAnswer } from './response.ts';
import type { WaitingAnswers } from './waiting-answers.ts';

export interface ModernCallDeps {
  readonly roundTrips: MultiRoundTrips;
  readonly waiting: WaitingAnswers;
  readonly logger: Logger;
}

/** Runs an operation of a modern client. Closing the response stream is how this version cancels. */
export function operateModern(
  { roundTrips, waiting, logger }: ModernCallDeps,
  exchange: Exchange,
  request: Request,
): Promise<void> {
  const { request: incoming, response, caller, acceptsStream } = exchange;
  if (acceptsStream && mayReceiveMessages(request)) exchange.growing = jsonOrStream(response);
  const roundTrip = roundTrips.begin(caller, request, {
    between: exchange.growing?.between,
    headers: incoming.headers,
  });
  if (acceptsStream) waiting.add(exchange);
  response.once('close', () => {
    if (response.writableFinished) return;
    contain(logger, 'client.defect-contained', {}, () => roundTrip.cancel('the client closed the stream'));
  });
  return roundTrip.answer.then(({ text, outcome }) => {
    waiting.answered(exchange);
    const answer = { idText: request.idText, text, ran: true };
    if (exchange.growing === undefined) sendAnswer(response, answer, statusOf(outcome));
    else exchange.growing.end(answer, statusOf(outcome));
  });
}

/** The protocol wants a status for headers that differ from the body, and for a capability which the client lacks. */
function statusOf(outcome: CallResult | undefined): number {
  if (outcome?.kind === 'failed') return outcome.error.code === 'HEADER_MISMATCH' ? 400 : 200;
  return outcome?.kind === 'error' && outcome.code === missingCapability ? 400 : 200;
}

const missingCapability = -32021;
