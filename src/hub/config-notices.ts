import type { Clock, Logger } from '../base/index.ts';
import { type Problem, placeOf } from '../domain/index.ts';
import { clockTime, type HeldFile } from './held-files.ts';

/** Why what is in force is not what is on disk. */
export interface ConfigState {
  readonly held: readonly HeldFile[];
  /** What a change would take away that waits for the files to settle. */
  readonly waiting: readonly string[];
  /** A file that waits to be taken up. */
  readonly changed: string | undefined;
  /** Mistakes in files that were not in force before, for which nothing new is taken up. */
  readonly refused: readonly Problem[];
  /** When the text of a file was taken up; of none, when anything was. */
  since(file?: string): number;
}

export interface ConfigNotices {
  list(): readonly Problem[];
  /** Logs what is new in it, once. */
  report(state: ConfigState): void;
}

export function createConfigNotices(deps: { readonly clock: Clock; readonly logger: Logger }): ConfigNotices {
  const { clock, logger } = deps;
  const known = new Map<string, { readonly message: string; readonly from: number }>();
  let problems: readonly Problem[] = [];
  let lastRefused = '';
  let lastWaiting = '';

  function logHeld(held: readonly HeldFile[], since: ConfigState['since']): void {
    for (const { file, unusable } of held) {
      const { kind, message } = unusable;
      const before = known.get(file);
      if (before?.message === message) continue;
      known.set(file, { message, from: before?.from ?? clock.now() });
      const fields = { file, reason: kind, error: message, using: new Date(since(file)).toISOString() };
      if (kind === 'broken') logger.error('reload_refused', fields);
      else logger.warn('config.held', fields);
    }
    for (const [file, { from }] of known) {
      if (held.some((each) => each.file === file)) continue;
      known.delete(file);
      // Editors that replace a file make it vanish for a moment; one line about that is enough.
      const level = clock.now() - from > briefMs ? 'info' : 'debug';
      logger[level]('config.restored', { file });
    }
  }

  return {
    list: () => problems,
    report({ held, waiting, changed, refused, since }) {
      logHeld(held, since);
      const wrong = refused.map((problem) => `${placeOf(problem)}: ${problem.message}`).join(' ');
      if (wrong !== '' && wrong !== lastRefused) logger.error('reload_refused', { error: wrong });
      lastRefused = wrong;
      const lost = waiting.join('; ');
      if (lost !== '' && lost !== lastWaiting) {
        logger.warn('config.waiting', { file: changed, lost: named(waiting), lost_count: waiting.length });
      }
      lastWaiting = lost;
      const now = clock.now();
      problems = [
        ...held.map((each) => heldNotice(each, clockTime(since(each.file), now))),
        ...refused.map((problem) => refusedNotice(problem, clockTime(since(), now))),
        ...(waiting.length === 0 ? [] : [waitingNotice(waiting, changed)]),
      ];
    },
  };
}

const briefMs = 3_000;

/** A log line names so many and counts the rest. */
export function named(losses: readonly string[]): readonly string[] {
  return losses.slice(0, 20);
}

const fixes: Readonly<Record<HeldFile['unusable']['kind'], string>> = {
  missing: 'Put it back, or run `qm reload` to go on without it.',
  empty: 'Write it again, or run `qm reload` to go on without what was in it.',
  unreadable: 'Make it readable again, or remove it and run `qm reload`.',
  broken: 'Correct it.',
};

function heldNotice({ file, unusable }: HeldFile, time: string): Problem {
  const severity = unusable.kind === 'broken' ? 'error' : 'warning';
  const message = `Still using the configuration of ${time}: ${unusable.message}`;
  return { severity, file, message, fix: fixes[unusable.kind] };
}

function refusedNotice({ fatal: _, ...problem }: Problem, time: string): Problem {
  return { ...problem, message: `Still using the configuration of ${time}: ${problem.message}` };
}

function waitingNotice(waiting: readonly string[], changed: string | undefined): Problem {
  const some = waiting.slice(0, 3).join('; ');
  const more = waiting.length > 3 ? ` and ${waiting.length - 3} more` : '';
  return {
    severity: 'warning',
    file: changed ?? '.',
    message: `A change waits until no file has changed for 3 s, because it could widen rights: ${some}${more}.`,
    fix: 'Wait, or run `qm reload` to take it up now.',
  };
}
