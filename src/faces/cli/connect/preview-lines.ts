import type { ClientContext } from '../../../clients/index.ts';
import type { CliContext } from '../context.ts';
import { diffLines } from '../terminal/line-diff.ts';
import { printable, printableLine } from '../terminal/printable.ts';
import { wrap } from '../terminal/wrap.ts';
import { shownPath } from './client-context.ts';
import { type FileDraft, isLeftEmpty } from './file-drafts.ts';
import { type GitState, gitStateOf } from './git-state.ts';
import type { SwitchPlan } from './plan-switch.ts';

/** More lines of one file are counted, not shown. */
const mostLines = 200;

/** What git may carry to other machines. Undoing a connection takes all of that back. */
export interface SharedParts {
  /** Paths that are right on this machine only. */
  readonly ownPaths: readonly string[];
  /** Files that lose entries for servers. */
  readonly losing: ReadonlySet<string>;
}

const nothingShared: SharedParts = { ownPaths: [], losing: new Set() };

/** What would change in each file, to be printed without wrapping: it is text to compare. Secrets are masked. */
export async function fileLines(
  cli: CliContext,
  at: ClientContext,
  files: readonly FileDraft[],
  shared = nothingShared,
): Promise<readonly string[]> {
  const { errColours, errIsTerminal, size } = cli.terminal;
  const { bold, dim } = errColours;
  const lines: string[] = [];
  for (const file of files) {
    const notes = [...placeNotes(at, file), ...gitNotes(await gitStateOf(cli, at.workspace, file.path), file, shared)];
    const about = notes.length === 0 ? '' : `  ${dim(notes.join('; '))}`;
    const title = `${bold(printableLine(shownPath(at, file.path)))}${about}`;
    lines.push('', ...wrap(title, errIsTerminal ? size().columns : undefined), ...changedIn(cli, file));
  }
  return lines;
}

function changedIn({ terminal, mask }: CliContext, file: FileDraft): readonly string[] {
  const { green, red, dim } = terminal.errColours;
  const lines = diffLines(file.onDisk ?? '', isLeftEmpty(file) ? '' : file.steps.after);
  const shown = lines.slice(0, mostLines).map(({ kind, text }) => {
    const safe = printable(mask.text(text)).replaceAll('\t', '  ');
    return kind === 'removed' ? red(`  - ${safe}`) : green(`  + ${safe}`);
  });
  const more = lines.length - shown.length;
  return more > 0 ? [...shown, dim(`  … and ${more} more lines`)] : shown;
}

function placeNotes(at: ClientContext, file: FileDraft): readonly string[] {
  const { target } = file.opened;
  return [
    ...(file.onDisk === undefined ? ['new file'] : isLeftEmpty(file) ? ['is removed'] : []),
    ...(target === undefined ? [] : [`a link to ${shownPath(at, target)}`]),
  ];
}

function gitNotes(state: GitState, file: FileDraft, { ownPaths, losing }: SharedParts): readonly string[] {
  if (state === 'tracked') {
    return [
      'tracked by git',
      ...(losing.has(file.path) ? ['if you commit this, your teammates lose the entries removed here'] : []),
    ];
  }
  const added = diffLines(file.onDisk ?? '', file.steps.after).filter(({ kind }) => kind === 'added');
  const isOwn = added.some(({ text }) => ownPaths.some((path) => text.includes(path)));
  return state === 'untracked' && isOwn ? ['git does not ignore it: do not commit it with paths on this machine'] : [];
}

/** What becomes of the client's own entries. */
export function switchLines(
  { terminal }: CliContext,
  at: ClientContext,
  title: string,
  switches: readonly SwitchPlan[],
): readonly string[] {
  const { yellow, dim } = terminal.errColours;
  const off = switches.filter((each) => each.kind === 'off');
  const [served, unserved] = [off.filter(isServed), off.filter((each) => !isServed(each))];
  const left = switches.filter((each) => each.kind === 'left');
  return [
    ...(served.length === 0 ? [] : ['', `The hub serves these too, so ${title} stops using them directly:`]),
    ...served.map((each) => `  ${nameOf(each)}  ${dim(`${shownPath(at, each.file)}, ${wayOf(each, title)}`)}`),
    ...(unserved.length === 0 ? [] : ['', `The hub does not serve these, so ${title} stops using them too:`]),
    ...unserved.map((each) => {
      const why = each.direct.unserved ?? '';
      return `  ${nameOf(each)}  ${dim(`${shownPath(at, each.file)}, ${wayOf(each, title)}; ${why}`)}`;
    }),
    ...(left.length === 0 ? [] : ['', `${yellow('warning')} ${title} still reaches these without the hub:`]),
    ...left.map((each) => `  ${nameOf(each)}  ${dim(`${shownPath(at, each.direct.file.path)}: ${each.why}`)}`),
    ...(left.length === 0 ? [] : [`To stop that, ${wayOut(left)}.`]),
  ];
}

function isServed({ direct }: SwitchPlan): boolean {
  return direct.unserved === undefined;
}

/** What the person can do about entries that stay. */
function wayOut(left: readonly SwitchPlan[]): string {
  const add = left.some(isServed)
    ? 'add the server to quartermaster.yaml and connect again'
    : 'let the hub serve the server and connect again';
  return `remove the entry from the file yourself, or ${add}`;
}

function nameOf({ direct: { entry, server, reason } }: SwitchPlan): string {
  const key = printableLine(entry.key);
  if (reason === 'hub') return `${key} (the hub, as agent ${printableLine(server)})`;
  return key === server ? key : `${key} (${server} in the hub)`;
}

function wayOf({ how, everywhere }: SwitchPlan & { kind: 'off' }, title: string): string {
  const reach = everywhere ? ', for all your projects' : '';
  switch (how) {
    case 'setting':
      return `switched off by a setting of ${title}${reach}`;
    case 'removed':
      return `removed${reach}; \`qm disconnect\` puts it back`;
    case 'moved':
      return 'moved to quartermaster.yaml; `qm disconnect` moves it back';
  }
}
