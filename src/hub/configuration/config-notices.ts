import type { Clock, Logger } from '../../base/index.ts';
import { type Problem, placeOf } from '../../domain/index.ts';
import { itemSource, type PendingItem } from '../../trust/index.ts';
import { clockTime, pendingNotice, type RetainedFile, retainedNotice } from '../../workspace-trust/index.ts';
import type { EmitEvent } from '../events/event-emitter.ts';
import { createPendingReport } from './pending-report.ts';

/** Why the active configuration differs from the files. */
export interface ConfigState {
  readonly retained: readonly RetainedFile[];
  /** Items that nobody approved. */
  readonly pending: readonly PendingItem[];
  /** A file whose change is pending. */
  readonly changed: string | undefined;
  /** Mistakes in new files, because of which no change is applied. */
  readonly refused: readonly Problem[];
  /** When the text of a file was applied. Without a file: when the configuration was. */
  since(file?: string): number;
}

export interface ConfigNotices {
  list(): readonly Problem[];
  /** Logs new notices and informs listeners, once. */
  report(state: ConfigState): void;
}

export interface ConfigNoticesDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly emit: EmitEvent;
}

export function createConfigNotices(
  { clock, logger, emit }: ConfigNoticesDeps,
  { asks }: { readonly asks: boolean },
): ConfigNotices {
  const known = new Map<string, { readonly message: string; readonly from: number }>();
  let problems: readonly Problem[] = [];
  let lastRefused = '';
  const reportPending = createPendingReport({ logger, emit }, { asks });

  function logRetained(retained: readonly RetainedFile[], since: ConfigState['since']): void {
    for (const { file, unusable } of retained) {
      const { kind, message } = unusable;
      const before = known.get(file);
      if (before?.message === message) continue;
      known.set(file, { message, from: before?.from ?? clock.now() });
      const fields = { file, reason: kind, error: message, using: new Date(since(file)).toISOString() };
      if (kind === 'broken') {
        logger.error('config.refused', fields);
        emit({ type: 'config.refused', file, message });
      } else {
        logger.warn('config.retained', fields);
        emit({ type: 'config.retained', file, reason: kind, message });
      }
    }
    for (const [file, { from }] of known) {
      if (retained.some((each) => each.file === file)) continue;
      known.delete(file);
      // A file vanishes for a moment when an editor replaces it. One line about that is enough.
      const level = clock.now() - from > briefMs ? 'info' : 'debug';
      logger[level]('config.restored', { file });
      emit({ type: 'config.restored', file });
    }
  }

  return {
    list: () => problems,
    report({ retained, pending, changed, refused, since }) {
      logRetained(retained, since);
      const wrong = refused.map((problem) => `${placeOf(problem)}: ${problem.message}`).join(' ');
      if (wrong !== '' && wrong !== lastRefused) {
        logger.error('config.refused', { error: wrong });
        emit({ type: 'config.refused', message: wrong });
      }
      lastRefused = wrong;
      reportPending(pending, changed);
      const now = clock.now();
      problems = [
        ...retained.map((each) => retainedNotice(each, { time: clockTime(since(each.file), now), asks })),
        ...refused.map((problem) => refusedNotice(problem, clockTime(since(), now))),
        ...(asks ? pending.map(pendingNotice) : settlingNotices(pending, changed)),
      ];
    },
  };
}

const briefMs = 3_000;

function refusedNotice({ fatal: _, ...problem }: Problem, time: string): Problem {
  return { ...problem, message: `Still using the configuration from ${time}: ${problem.message}` };
}

/** Where everything is trusted, a change of rights waits only until the files are quiet. */
function settlingNotices(pending: readonly PendingItem[], changed: string | undefined): readonly Problem[] {
  const [first] = pending;
  if (first === undefined) return [];
  return [
    {
      severity: 'warning',
      file: changed ?? itemSource(first.item).file,
      message: 'A change waits until no file has changed for 3 s. Until then agents have what both versions allow.',
      fix: 'Wait, or run `qm reload` to take it up now.',
    },
  ];
}
