import type { FailedReply, UpstreamReply } from '../../upstream/index.ts';
import { isInputRequired } from '../input-required/input-required.ts';
import { answerInputRequests } from './answer-input-requests.ts';
import type { CallRun } from './call-run.ts';
import { checkDefinition } from './check-definition.ts';
import { wasNeverSent } from './claim.ts';
import { connect } from './reach.ts';
import { recordSending } from './record.ts';
import { sendWith } from './send.ts';

/** A call can be repeated if nothing was sent, or if the server says that the tool is read-only or idempotent. */
export function mayRepeat({ call, target, claimed }: CallRun, reply: UpstreamReply): reply is FailedReply {
  if (reply.kind !== 'failed' || call.cancelled !== undefined) return false;
  if (reply.cause !== 'connection' && reply.cause !== 'session') return false;
  // One approval is for one attempt, whatever the server says about the tool or the session.
  if (claimed !== undefined) return wasNeverSent(reply);
  return !reply.sent || target.safeToRepeat;
}

/**
 * Sends the call once more over a new connection. Without one, the first failure is the answer. A call that has input
 * from its caller goes on with it: from the beginning, the server would do the first part of its work twice.
 */
export async function repeat(run: CallRun, first: FailedReply): Promise<UpstreamReply> {
  const { call, dispatch, connection: lost } = run;
  dispatch.reportLoss(lost, first);
  try {
    await connect(run);
    checkDefinition(run);
    // The record names the connection, so it must be written again before the call is sent.
    if (call.cancelled === undefined) await recordSending(run);
  } catch {
    return first;
  } finally {
    if (run.connection !== lost) lost.exclusiveAccess?.leave(call);
  }
  if (call.cancelled !== undefined) return first;
  run.retries = 1;
  const reply = await sendWith(run, run.inputs);
  return isInputRequired(reply) ? answerInputRequests(run, reply) : reply;
}
