import type { Clock, Logger, Timer } from '../../base/index.ts';
import type { ToolDefinition } from '../../domain/index.ts';
import { toolChanges } from './tool-changes.ts';

/** Changes of a server's tools are logged at most once in this time. */
const logAgainMs = 60_000;

export interface ToolChangeLog {
  note(before: readonly ToolDefinition[], after: readonly ToolDefinition[]): void;
  close(): void;
}

/**
 * Logs changed tools for the operator, because a server can deceive by changing a tool after its review. A server that
 * keeps changing gets one line a minute, with the difference to the last line and the number of changes since.
 */
export function createToolChangeLog(
  {
    clock,
    logger,
    redact,
  }: { readonly clock: Clock; readonly logger: Logger; readonly redact: (text: string) => string },
  server: string,
): ToolChangeLog {
  let loggedAt = Number.NEGATIVE_INFINITY;
  let unlogged:
    | { readonly before: readonly ToolDefinition[]; after: readonly ToolDefinition[]; count: number }
    | undefined;
  let timer: Timer | undefined;

  function log(): void {
    timer = undefined;
    if (unlogged === undefined) return;
    const { before, after, count } = unlogged;
    unlogged = undefined;
    loggedAt = clock.monotonic();
    // A tool that was changed and changed back shows only in the count.
    const { added, removed, changed } = toolChanges(before, after) ?? { added: [], removed: [], changed: [] };
    const fields = { added: added.map(redact), removed: removed.map(redact), changed: changed.map(redact) };
    const isSuspect = changed.length > 0 || count > 1;
    logger[isSuspect ? 'warn' : 'info']('catalog.tools-changed', {
      server,
      ...fields,
      ...(count > 1 ? { changes: count } : {}),
    });
  }

  return {
    note(before, after) {
      if (toolChanges(before, after) === undefined) return;
      unlogged ??= { before, after, count: 0 };
      unlogged.after = after;
      unlogged.count++;
      const waitMs = loggedAt + logAgainMs - clock.monotonic();
      if (waitMs <= 0) log();
      else timer ??= clock.setTimer(waitMs, log);
    },
    close() {
      timer?.cancel();
      log();
    },
  };
}
