import { z } from 'zod';
import { defineTool, type ServedTool, ToolFault } from '../../serving/index.ts';
import { lookingOnly } from './arguments.ts';
import { outsideSubmodules } from './diff.ts';
import type { GitTools } from './git-calls.ts';
import { cutNote, gitFieldsOf, shortHash, shownName } from './text.ts';

export function gitStatus({ calls, repository, maxBytes }: GitTools): ServedTool {
  return defineTool({
    name: 'git_status',
    title: 'Status of the work tree',
    description:
      'Shows the branch, its distance from its upstream branch, and every changed, staged, conflicting or untracked file.',
    annotations: lookingOnly,
    input: z.strictObject({}),
    async run(_, call) {
      if (repository.bare) throw new ToolFault('The repository is bare: it has no work tree. Use git_log or git_show.');
      const output = await calls.onRepository(repository, call, (git) =>
        git.run(['status', '--porcelain=v2', '--branch', '-z', '--untracked-files=normal', outsideSubmodules]),
      );
      const status = parseStatus(gitFieldsOf(output));
      const note = output.cut ? `\n${cutNote(maxBytes, 'Consider adding untracked folders to .gitignore.')}` : '';
      return { text: describeStatus(status) + note, structured: { ...status, cut: output.cut } };
    },
  });
}

interface Status {
  /** Null if HEAD is detached. */
  readonly branch: string | null;
  /** Null before the first commit. */
  readonly commit: string | null;
  /** The tracked branch, and the number of commits that only one of the two has. */
  readonly upstream: string | null;
  readonly ahead: number | null;
  readonly behind: number | null;
  readonly files: readonly ChangedFile[];
}

interface ChangedFile {
  readonly path: string;
  readonly state: 'staged' | 'unstaged' | 'conflict' | 'untracked';
  readonly change: string;
  /** The former name of a renamed or copied file. */
  readonly from?: string;
}

const changes: Readonly<Record<string, string>> = {
  M: 'modified',
  T: 'type changed',
  A: 'added',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
};

const conflicts: Readonly<Record<string, string>> = {
  DD: 'both deleted',
  AU: 'added by us',
  UD: 'deleted by them',
  UA: 'added by them',
  DU: 'deleted by us',
  AA: 'both added',
  UU: 'both modified',
};

/** Parses porcelain v2 with `-z`. */
function parseStatus(fields: readonly string[]): Status {
  const heads = new Map<string, string>();
  const files: ChangedFile[] = [];
  const rest = fields.values();
  for (const field of rest) {
    const [kind] = field;
    if (kind === '#') {
      const [, name = '', value = ''] = /^# branch\.(\S+) (.*)$/s.exec(field) ?? [];
      heads.set(name, value);
    } else if (kind === '?') files.push({ path: field.slice(2), state: 'untracked', change: 'untracked' });
    else if (kind === 'u') {
      const marks = field.slice(2, 4);
      files.push({ path: after(field, 10), state: 'conflict', change: conflicts[marks] ?? marks });
    } else if (kind === '1') files.push(...changed(field.slice(2, 4), after(field, 8)));
    else if (kind === '2') files.push(...changed(field.slice(2, 4), after(field, 9), rest.next().value));
  }
  const [, ahead, behind] = /^\+(\d+) -(\d+)$/.exec(heads.get('ab') ?? '') ?? [];
  return {
    branch: known(heads.get('head'), '(detached)'),
    commit: known(heads.get('oid'), '(initial)'),
    upstream: heads.get('upstream') ?? null,
    ahead: ahead === undefined ? null : Number(ahead),
    behind: behind === undefined ? null : Number(behind),
    files,
  };
}

/** The path follows this many words, and may contain spaces itself. */
function after(field: string, words: number): string {
  return field.split(' ').slice(words).join(' ');
}

function changed(marks: string, path: string, from?: string): readonly ChangedFile[] {
  const [staged = '.', unstaged = '.'] = marks;
  const file = (mark: string, state: ChangedFile['state']): readonly ChangedFile[] => {
    if (mark === '.') return [];
    const change = changes[mark] ?? mark;
    return [from !== undefined && /[RC]/.test(mark) ? { path, state, change, from } : { path, state, change }];
  };
  return [...file(staged, 'staged'), ...file(unstaged, 'unstaged')];
}

function known(value: string | undefined, unknown: string): string | null {
  return value === undefined || value === unknown ? null : value;
}

const headings = {
  conflict: 'In conflict',
  staged: 'Staged',
  unstaged: 'Not staged',
  untracked: 'Untracked',
} as const satisfies Record<ChangedFile['state'], string>;

function describeStatus(status: Status): string {
  const sections = Object.entries(headings).flatMap(([state, heading]) => {
    const files = status.files.filter((file) => file.state === state);
    return files.length === 0 ? [] : [`${heading}:`, ...files.map(describeFile)];
  });
  return [describeBranch(status), ...(sections.length === 0 ? ['Nothing has changed.'] : sections)].join('\n');
}

function describeBranch({ branch, commit, upstream, ahead, behind }: Status): string {
  const at = commit === null ? 'no commits yet' : `at ${shortHash(commit)}`;
  const where = branch === null ? `HEAD is detached, ${at}` : `On branch ${branch}, ${at}`;
  if (upstream === null) return `${where}.`;
  if (ahead === null || behind === null) return `${where}. Its upstream branch ${upstream} does not exist.`;
  return `${where}. It follows ${upstream}: ${ahead} ahead, ${behind} behind.`;
}

function describeFile({ path, state, change, from }: ChangedFile): string {
  if (state === 'untracked') return `  ${shownName(path)}`;
  return `  ${change}: ${from === undefined ? '' : `${shownName(from)} -> `}${shownName(path)}`;
}
