import { toHubError } from '../../base/index.ts';
import type { UpstreamReply } from '../../upstream/index.ts';
import {
  collectInputs,
  inputRequestsIn,
  isInputRequired,
  maxRoundTrips,
  tooManyRoundTrips,
} from '../input-required/input-required.ts';
import type { CallRun } from './call-run.ts';
import { sendWith } from './send.ts';

/** A modern caller gets the server's requests as its result and calls again. A legacy one is asked while it waits. */
export async function answerInputRequests(run: CallRun, first: UpstreamReply): Promise<UpstreamReply> {
  const { call, target } = run;
  let reply = first;
  for (let roundTrip = 1; isInputRequired(reply); roundTrip++) {
    try {
      if (roundTrip > maxRoundTrips) throw tooManyRoundTrips(target);
      const asked = inputRequestsIn(call, target, reply);
      if (call.request.client?.takesInputRequired === true) return reply;
      const inputs = await call.waitFor(collectInputs(call, target, asked, reply.value.requestState));
      reply = await sendWith(run, inputs);
    } catch (error) {
      return { kind: 'failed', error: toHubError(error), cause: 'answer', sent: true, httpStatus: reply.httpStatus };
    }
  }
  return reply;
}
