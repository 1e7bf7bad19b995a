import { originName } from './state-origin.ts';
import { unfinishedSuffix } from './state-place.ts';

/** Folders of a restore that was not finished, and of the state before one. */
export const restoring = 'restoring-';
export const placing = 'placing-';
const before = 'before-';

/** Without it, a store of approvals approves nothing. So no backup has it, and a restore removes it. */
export const approvalsEpochName = 'approvals-epoch';

/** Of one process or one moment, so useless elsewhere. */
const leftOut: ReadonlySet<string> = new Set(['lock', 'serve.json', approvalsEpochName, originName]);

export const keptPattern: RegExp = /^(?!\.)[A-Za-z0-9._-]{1,200}$/;

/** Whether a backup has this name. */
export function isKept(name: string, atTop: boolean): boolean {
  const isOurs = keptPattern.test(name) && !name.endsWith(unfinishedSuffix);
  const isOfRestore = [restoring, placing, before].some((prefix) => name.startsWith(prefix));
  return isOurs && !isOfRestore && !(atTop && leftOut.has(name));
}
