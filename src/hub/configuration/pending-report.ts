import type { Logger } from '../../base/index.ts';
import { changedLines, type PendingItem, waitingLines } from '../../trust/index.ts';
import type { EmitEvent } from '../events/event-emitter.ts';

export interface PendingReportDeps {
  readonly logger: Logger;
  readonly emit: EmitEvent;
}

/** A log line or event names this many servers or changes. */
const mostNames = 20;

/** One log line and one event whenever another set of items waits. `asks`: for the operator's approval. */
export function createPendingReport(
  { logger, emit }: PendingReportDeps,
  { asks }: { readonly asks: boolean },
): (pending: readonly PendingItem[], changed: string | undefined) => void {
  let last = '';
  return (pending, changed) => {
    const key = pending.map(({ item, declined }) => `${item.hash} ${declined}`).join();
    if (key === last) return;
    last = key;
    const open = pending.filter(({ declined }) => !declined);
    const servers = open.flatMap(({ item }) => (item.kind === 'server' ? [item.name] : []));
    const named = servers.slice(0, mostNames);
    const policy = open.length > servers.length;
    emit({ type: 'trust.pending', servers: named, policy });
    if (open.length === 0) return;
    if (asks) {
      logger.warn('trust.pending', { servers: named, count: servers.length, policy, fix: 'Run `qm trust`.' });
      return;
    }
    const change = open.flatMap(({ item, before }) => waitingLines(before, item));
    if (change.length > 0 || open.some(isUnshown))
      logger.warn('config.postponed', { file: changed, change: change.slice(0, mostNames), count: change.length });
  };
}

/** Only values changed that no line shows. */
function isUnshown({ item, before }: PendingItem): boolean {
  return changedLines(before, item).length === 0;
}
