import { HubError, toHubError } from '../../../base/index.ts';
import { isNarrowing, type OperatorAct } from './operator-act.ts';

export interface ActLog<Act extends OperatorAct> {
  /** Resolves when the acts are in the journal. `failed` takes back what an earlier record announced. */
  write(acts: readonly Act[], failed: boolean): Promise<void>;
  /** Tells a person that the audit log lacks an act. */
  warn(text: string): void;
}

/**
 * Records the acts, then does them. An act that gives rights does not happen without its record; one that takes rights
 * away does, with a warning. If the work fails, a second record says so.
 */
export async function actOnRecord<Act extends OperatorAct, T>(
  log: ActLog<Act>,
  acts: readonly Act[],
  work: () => Promise<T>,
): Promise<T> {
  if (acts.length === 0) return await work();
  const isRecorded = await record(log, acts);
  try {
    return await work();
  } catch (error) {
    if (isRecorded) {
      await log.write(acts, true).catch((cause: unknown) => {
        log.warn(`The audit log says ${wordsOf(acts)}, which did not happen. ${toHubError(cause).message}`);
      });
    }
    throw error;
  }
}

async function record<Act extends OperatorAct>(log: ActLog<Act>, acts: readonly Act[]): Promise<boolean> {
  try {
    await log.write(acts, false);
    return true;
  } catch (error) {
    const { code, message, hint } = toHubError(error);
    if (acts.every(({ what }) => isNarrowing(what))) {
      log.warn(`The audit log lacks this act, ${wordsOf(acts)}. ${message}`);
      return false;
    }
    throw new HubError(code, `${message} Nothing was changed, because ${wordsOf(acts)} cannot be recorded.`, {
      ...(hint === undefined ? {} : { hint }),
      cause: error,
    });
  }
}

function wordsOf(acts: readonly OperatorAct[]): string {
  const [first, ...more] = acts;
  const words = first === undefined ? '' : `"${first.what} ${first.subject}"`;
  return more.length === 0 ? words : `${words} and ${more.length} more`;
}
