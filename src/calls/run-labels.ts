import { HubError } from '../base/index.ts';
import type { Caller, ContentLabels } from '../domain/index.ts';
import type { Target } from './target.ts';

/** Remembers which labels runs have. A label stays for the life of its run, also after a restart. */
export interface RunLabels {
  /** The labels of the caller's run and of the runs that delegated to it. Undefined: not known. */
  of(caller: RunOfCaller): ReadonlySet<string> | undefined;
  /**
   * Gives the labels of the target to the caller's run and to those that delegated to it, to which its results return.
   * Call it before anything is sent: part of a result may arrive although the call fails. Throws if it cannot be stored.
   */
  mark(caller: Caller, target: Target): void;
}

type RunOfCaller = Pick<Caller, 'project' | 'run' | 'runKeys'>;

/** Stores labels beyond the life of the process. */
export interface RunLabelStore {
  /** All stored labels by run. Undefined if they cannot be read. */
  readonly stored: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  /** Returns when the operating system has them. */
  add(run: string, labels: readonly string[]): void;
}

/** More runs with labels are refused: to forget one would widen its rights. */
const maxRuns = 100_000;

export function createRunLabels(store: RunLabelStore): RunLabels {
  const known = new Map([...(store.stored ?? [])].map(([run, labels]) => [run, new Set(labels)]));
  const none: ReadonlySet<string> = new Set();
  return {
    of(caller) {
      if (store.stored === undefined) return undefined;
      if (known.size === 0) return none;
      return new Set(keysOf(caller).flatMap((key) => [...(known.get(key) ?? [])]));
    },
    mark(caller, target) {
      const { labels } = target.control.spec;
      if (labels === undefined) return;
      for (const key of keysOf(caller)) {
        const own = known.get(key);
        const added = labelsOfTarget(labels, target).filter((label) => own?.has(label) !== true);
        if (added.length === 0) continue;
        if (own === undefined && known.size >= maxRuns) throw tooManyRuns();
        store.add(key, added);
        known.set(key, new Set([...(own ?? []), ...added]));
      }
    },
  };
}

/** A task has the labels of its tool. */
export function labelsOfTarget({ all, tools }: ContentLabels, target: Target): readonly string[] {
  const { kind, ownName, subjectName } = target;
  const tool = kind.startsWith('task-') ? subjectName.slice('task:'.length) : ownName;
  return [...all, ...(tools.get(tool) ?? [])];
}

/** A token without a run of its own is one of them, whatever run its caller names: a header must not take a label off. */
function keysOf({ project, run, runKeys = [] }: RunOfCaller): readonly string[] {
  return [...new Set([`run:${run}`, ...runKeys])].map((key) => `${project} ${key}`);
}

function tooManyRuns(): HubError {
  return new HubError('OVERLOADED', `${maxRuns} runs have labels, and no more can be remembered. Nothing was sent.`, {
    hint: 'Stop the hub and remove run-labels.jsonl from its state folder if the runs in it are over.',
  });
}
