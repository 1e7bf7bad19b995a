import { defectFields, type Logger } from '../../base/index.ts';
import { notOffered, type Question, type QuestionAnswer, unanswered } from '../../mcp/index.ts';
import type { Patience } from '../deadlines.ts';
import type { Hearing } from '../wire.ts';

/** A call that may have asked a question which names none. */
export interface PossibleAsker {
  readonly hearing: Hearing | undefined;
  readonly patience: Patience;
  isUnderWay(): boolean;
}

/**
 * Asks the client of several calls, oldest first, of which nobody knows which one asks: the newest is taken for it, and
 * the time of all of them stands still. A call that ends takes the question back from its client. Then it was another's,
 * and the client is asked again; it never is more often than there were calls when the question came.
 */
export async function askInTurn(
  { logger, server }: { readonly logger: Logger; readonly server: string },
  question: Question,
  calls: readonly PossibleAsker[],
): Promise<QuestionAnswer> {
  for (const { patience } of calls) patience.hold();
  try {
    return await firstAnswer(question, calls.toReversed());
  } catch (error) {
    logger.error('caller_defect', { server, ...defectFields(error) });
    return unanswered('The client could not be asked');
  } finally {
    for (const { patience } of calls) patience.resume();
  }
}

async function firstAnswer(question: Question, calls: readonly PossibleAsker[]): Promise<QuestionAnswer> {
  let answer = notOffered();
  for (const call of calls) {
    if (call.hearing === undefined || !call.isUnderWay()) continue;
    answer = await call.hearing.ask(question);
    if (answer.kind === 'result' || call.isUnderWay()) return answer;
  }
  return answer;
}
