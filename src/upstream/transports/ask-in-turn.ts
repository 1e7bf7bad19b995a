import { defectFields, type Logger } from '../../base/index.ts';
import { type ClientResponse, notSupported, type ServerRequest, unanswered } from '../../mcp/index.ts';
import type { CallDeadlines } from '../connecting/deadlines.ts';
import type { RequestHandlers } from '../transport.ts';

/** A call that may have caused a server request without a call id. */
export interface PossibleAsker {
  readonly handlers: RequestHandlers | undefined;
  readonly deadline: CallDeadlines;
  isInFlight(): boolean;
}

/**
 * Answers a server request that may belong to any of several calls of one client (oldest first). The newest is asked,
 * and the deadlines of all of them are paused. If that call ends, its request is withdrawn: it belonged to another
 * call, and the client is asked again, at most once for each call.
 */
export async function askInTurn(
  { logger, server }: { readonly logger: Logger; readonly server: string },
  serverRequest: ServerRequest,
  calls: readonly PossibleAsker[],
): Promise<ClientResponse> {
  for (const { deadline } of calls) deadline.pause();
  try {
    return await firstAnswer(serverRequest, calls.toReversed());
  } catch (error) {
    logger.error('caller.defect-contained', { server, ...defectFields(error) });
    return unanswered('The client could not be asked');
  } finally {
    for (const { deadline } of calls) deadline.resume();
  }
}

async function firstAnswer(serverRequest: ServerRequest, calls: readonly PossibleAsker[]): Promise<ClientResponse> {
  let answer = notSupported();
  for (const call of calls) {
    if (call.handlers === undefined || !call.isInFlight()) continue;
    answer = await call.handlers.ask(serverRequest);
    if (answer.kind === 'result' || call.isInFlight()) return answer;
  }
  return answer;
}
