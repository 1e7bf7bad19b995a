import { HubError, toHubError } from '../../base/index.ts';
import type { CallEnd } from '../../ledger/index.ts';
import type { ResultReply } from '../../upstream/index.ts';
import type { CallResult } from '../call.ts';
import { resultUnread } from '../call-errors.ts';
import { redactedReply } from '../results/redact-result.ts';
import type { CallRun } from './call-run.ts';
import { hasRoomFor } from './conclude.ts';
import { exposedReply } from './expose-result.ts';
import { refuse } from './refuse.ts';

/** The cached answer, if the server has a cache and answered the same call recently. */
export function findCached({ target, call }: CallRun): ResultReply | undefined {
  return target.cacheUse?.find(target, call.request);
}

/** Nothing is sent, but the record is still written before the answer. */
export async function answerCached(run: CallRun, cached: ResultReply): Promise<CallResult> {
  const { path, record, target } = run;
  if (!hasRoomFor(run, cached.text.length)) {
    return refuse(run, resultUnread(target, cached.text.length, undefined).error);
  }
  const redacted = redactedReply(target, cached);
  const result = redacted instanceof HubError ? redacted : exposedReply(run, redacted);
  if (result instanceof HubError) return refuse(run, result);
  const end: CallEnd = { outcome: 'ok', durationMs: run.durationMs, cached: true };
  try {
    await path.ledger.cached(record, end);
  } catch (error) {
    return refuse(run, toHubError(error));
  }
  run.endState = 'done';
  path.meter?.cached(target);
  path.traced?.end(record, target, end);
  return { kind: 'result', result };
}
