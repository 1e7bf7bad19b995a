import type { ClientContext } from '../../../clients/index.ts';
import type { CliContext } from '../context.ts';
import { diffLines } from '../terminal/line-diff.ts';
import { printable, printableLine } from '../terminal/printable.ts';
import { shownPath } from './client-context.ts';
import { type FileDraft, isLeftEmpty } from './file-drafts.ts';
import { gitStateOf } from './git-state.ts';
import type { SwitchPlan } from './plan-switch.ts';

/** More lines of one file are counted, not shown. */
const mostLines = 200;

/** What would change in each file. Secrets are masked. */
export async function fileLines(
  cli: CliContext,
  at: ClientContext,
  files: readonly FileDraft[],
): Promise<readonly string[]> {
  const { bold, dim } = cli.terminal.errColours;
  const lines: string[] = [];
  for (const file of files) {
    const notes = await notesOn(cli, at, file);
    const about = notes.length === 0 ? '' : `  ${dim(notes.join('; '))}`;
    lines.push('', `${bold(printableLine(shownPath(at, file.path)))}${about}`, ...changedIn(cli, file));
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

async function notesOn(cli: CliContext, at: ClientContext, file: FileDraft): Promise<readonly string[]> {
  const { target } = file.opened;
  const state = await gitStateOf(cli, at.workspace, file.path);
  return [
    ...(file.onDisk === undefined ? ['new file'] : isLeftEmpty(file) ? ['is removed'] : []),
    ...(target === undefined ? [] : [`a link to ${shownPath(at, target)}`]),
    ...(state === 'tracked' ? ['tracked by git'] : []),
    ...(state === 'untracked' ? ['git does not ignore it: do not commit it with paths of this machine'] : []),
  ];
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
  const left = switches.filter((each) => each.kind === 'left');
  return [
    ...(off.length === 0 ? [] : ['', `The hub serves these too, so ${title} stops using them directly:`]),
    ...off.map((each) => `  ${nameOf(each)}  ${dim(`${shownPath(at, each.file)}, ${wayOf(each, title)}`)}`),
    ...(left.length === 0 ? [] : ['', `${yellow('warning')} ${title} still reaches these without the hub:`]),
    ...left.map((each) => `  ${nameOf(each)}  ${dim(`${shownPath(at, each.direct.file.path)}: ${each.why}`)}`),
  ];
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
