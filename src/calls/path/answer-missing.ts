import type { HubError } from '../../base/index.ts';
import { isStatusCall, statusResult, statusSubject } from '../availability/status-tool.ts';
import type { CallResult } from '../call.ts';
import { definitionChanged, stopping } from '../call-errors.ts';
import { lookUpDenied, missing } from '../look-up.ts';
import { ambiguousTool } from '../mcp-apps/app-tool.ts';
import type { CallRun } from './call-run.ts';
import { openRecord } from './record.ts';
import { denial, refuseAtOnce } from './refuse.ts';

/** Unknown and denied names get the same answer. The exception is the hub's own tool, which lists missing servers. */
export function answerMissing(run: CallRun): CallResult {
  const { path, call } = run;
  const { request, cancelled } = call;
  if (path.isStopping()) return refuseAtOnce(run, cancelled ?? stopping());
  const view = path.views.of(request.caller.chain);
  if (!isStatusCall(request)) {
    const unknown = missing(view, request, path.taskIds, path.clock.now());
    run.found ??= lookUpDenied(view, request);
    return refuseAtOnce(run, cancelled ?? withheldFrom(run) ?? unknown, cancelled ?? deniedBy(run) ?? unknown);
  }
  if (path.refused.isRecorded(request.caller, 'ok')) {
    const record = openRecord(run, statusSubject(request.caller));
    const end = { outcome: 'ok', durationMs: run.durationMs } as const;
    path.ledger.done(record, end);
    path.traced?.end(record, undefined, end);
  }
  run.endState = 'done';
  return { kind: 'result', result: statusResult(view) };
}

function deniedBy({ found, ambiguous, call }: CallRun): HubError | undefined {
  if (ambiguous !== undefined) return ambiguousTool(call.request.name, ambiguous);
  return found && denial(found, found.decision);
}

/** The agent may have had the tool in its list before, so it may know. Nobody had one that is new. */
function withheldFrom({ found }: CallRun): HubError | undefined {
  const reason = found?.decision.reason;
  return reason?.kind === 'definition-changed' && reason.why !== 'new' && found !== undefined
    ? definitionChanged(found)
    : undefined;
}
