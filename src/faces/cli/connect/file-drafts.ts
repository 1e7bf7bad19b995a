import { HubError } from '../../../base/index.ts';
import type { ClientConnection, ClientContext, ConnectedFile, FileSteps } from '../../../clients/index.ts';
import { type Dialect, openTree, type TakenSteps, takeSteps, undoSteps } from '../../../workspace-files/index.ts';
import type { CliContext } from '../context.ts';
import { shownPath } from './client-context.ts';
import { type OpenedClientFile, openClientFile } from './open-client-file.ts';

/** A file that the command may change. */
export interface FileDraft {
  readonly path: string;
  readonly dialect: Dialect;
  readonly opened: OpenedClientFile;
  /** As it is on disk; undefined if it is missing. */
  readonly onDisk: string | undefined;
  /** The file was there before the first connection. */
  readonly existed: boolean;
  /** The first folder that an earlier connection made for it. */
  readonly madeFolder: string | undefined;
  /** What the steps so far left, starting from the text without an earlier connection. */
  readonly steps: TakenSteps;
}

/** The files that a command reads and may change, as it plans them. Nothing is written. */
export interface FileDrafts {
  open(path: string, dialect: Dialect): Promise<FileDraft>;
  /** The planned text; undefined if the file is missing. Only for files that were opened. */
  textOf(path: string): string | undefined;
  /** False if something in the file is in the way. Nothing has changed then. */
  take(order: Omit<FileSteps, 'dialect'> & { readonly dialect: Dialect }): Promise<boolean>;
  /** Returns a function that takes everything back that was planned since. */
  mark(): () => void;
  /** Everything that was opened. */
  all(): readonly FileDraft[];
}

export function createFileDrafts(
  cli: Pick<CliContext, 'random'>,
  at: ClientContext,
  earlier: ClientConnection | undefined,
): FileDrafts {
  let drafts: ReadonlyMap<string, FileDraft> = new Map();
  const set = (draft: FileDraft): FileDraft => {
    drafts = new Map([...drafts, [draft.path, draft]]);
    return draft;
  };

  async function open(path: string, dialect: Dialect): Promise<FileDraft> {
    const known = drafts.get(path);
    if (known !== undefined) return known;
    const opened = await openClientFile(cli, at, path);
    const record = earlier?.files.find((file) => file.path === path);
    return set(newDraft({ path, dialect, opened }, record));
  }

  return {
    open,
    textOf(path) {
      const draft = drafts.get(path);
      return draft === undefined || isLeftEmpty(draft) ? undefined : draft.steps.after;
    },
    async take({ path, dialect, steps }) {
      const draft = await open(path, dialect);
      const outcome = takeSteps(draft.steps.after, dialect, steps);
      if (outcome.kind === 'refused') return false;
      if (outcome.taken.length > 0) await draft.opened.refuseWayOut();
      const { taken, splices } = draft.steps;
      const all = {
        taken: [...taken, ...outcome.taken],
        splices: [...splices, ...outcome.splices],
        after: outcome.after,
      };
      set({ ...draft, steps: all });
      return true;
    },
    mark() {
      const before = drafts;
      return () => {
        // Files that were opened since stay open: what is on disk has not changed.
        drafts = new Map([...drafts].map(([path, draft]) => [path, before.get(path) ?? untouched(draft)]));
      };
    },
    all: () => [...drafts.values()],
  };
}

type Opened = Pick<FileDraft, 'path' | 'dialect' | 'opened'>;

/** An earlier connection is undone first, whatever became of it; the preview shows what that changes. */
function newDraft({ path, dialect, opened }: Opened, record: ConnectedFile | undefined): FileDraft {
  const onDisk = opened.file.text;
  const outcome = record === undefined ? undefined : undoSteps(record.steps, onDisk ?? '', dialect);
  const after = outcome?.kind === 'undone' ? outcome.text : (onDisk ?? '');
  const existed = record?.existed ?? onDisk !== undefined;
  return { path, dialect, opened, onDisk, existed, madeFolder: record?.madeFolder, steps: noSteps(after) };
}

function noSteps(after: string): TakenSteps {
  return { taken: [], splices: [], after };
}

function untouched(draft: FileDraft): FileDraft {
  const { taken, splices, after } = draft.steps;
  if (taken.length === 0) return draft;
  const start = splices.reduceRight(
    (text, { at, removed, inserted }) => text.slice(0, at) + removed + text.slice(at + inserted.length),
    after,
  );
  return { ...draft, steps: noSteps(start) };
}

/** A file that a command made is gone again when nothing is left in it. */
export function isLeftEmpty({ existed, steps }: Pick<FileDraft, 'existed' | 'steps'>): boolean {
  return !existed && ['', '{}'].includes(steps.after.replace(/\s/g, ''));
}

/** Throws if a text cannot be parsed, with the line. */
export function refuseBrokenText(at: ClientContext, { path, dialect, steps }: FileDraft): void {
  const opened = openTree(steps.after, dialect);
  if (opened.kind === 'tree') return;
  throw new HubError('CONFIG_INVALID', `${shownPath(at, path)}:${opened.line} cannot be parsed: ${opened.message}.`, {
    hint: 'Nothing was written. Correct the file, then try again.',
  });
}
