import { HubError, toHubError } from '../../base/index.ts';
import type { Caller } from '../../domain/index.ts';
import { errorReply, type Message } from '../../mcp/index.ts';
import {
  BatchLists,
  batchVersion,
  invalidMessage,
  isList,
  operationAnswer,
  operationOf,
  type Request,
} from '../mcp/index.ts';
import { BatchAnswers } from './batch-answers.ts';
import type { Exchange } from './exchange.ts';
import { answerTo, isCall, type LegacyDeps, sessionOf } from './legacy-session.ts';
import { sendJson, sendStatus } from './response.ts';
import type { HttpSession } from './sessions/http-session.ts';

/** Shared by all requests of one batch. */
interface BatchParts {
  readonly deps: LegacyDeps;
  readonly lists: BatchLists;
  readonly answers: BatchAnswers;
}

/** Answers the messages of a batch together. */
export async function answerBatch(deps: LegacyDeps, exchange: Exchange, messages: readonly Message[]): Promise<void> {
  const session = sessionOf(deps, exchange);
  if (session.protocolVersion !== batchVersion) {
    throw new HubError('INVALID_REQUEST', `Protocol version ${session.protocolVersion} has no batches.`);
  }
  if (messages.length === 0) throw new HubError('INVALID_REQUEST', 'The batch is empty.');
  const parts: BatchParts = { deps, lists: new BatchLists(), answers: new BatchAnswers(exchange.response) };
  const answers = messages.map((message) => {
    if (message.kind === 'request') return partOfBatch(parts, exchange.caller, session, message);
    if (message.kind === 'invalid') return errorReply('null', invalidMessage(message.reason));
    session.client.receive(message);
    return undefined;
  });
  const texts = await Promise.all(answers.filter((answer) => answer !== undefined));
  parts.answers.release();
  // As for a single request: the token may have ended meanwhile.
  deps.recheckToken(exchange);
  if (texts.length === 0) sendStatus(exchange.response, 202);
  else sendJson(exchange.response, 200, `[${texts.join(',')}]`);
}

async function partOfBatch(
  { deps, lists, answers }: BatchParts,
  caller: Caller,
  session: HttpSession,
  request: Request,
): Promise<string> {
  const { client } = session;
  const { idText, method } = request;
  try {
    if (method === 'initialize') throw new HubError('INVALID_REQUEST', 'A batch cannot initialize.');
    if (!isCall(request)) {
      const make = (): Promise<string> => answerTo(deps, session, caller, request);
      const text = await (isList(method) ? lists.answer(idText, make) : make());
      return answers.add({ idText, text, ran: false });
    }
    const operation = operationOf(request);
    const begun = client.begin(caller, request, operation, client.silent);
    const outcome = await begun.work.result;
    client.ended(begun);
    return answers.add({ idText, text: operationAnswer(idText, operation.kind, outcome, 'legacy'), ran: true });
  } catch (error) {
    return errorReply(idText, toHubError(error));
  }
}
