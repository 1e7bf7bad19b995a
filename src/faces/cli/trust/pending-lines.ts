import { changedLines, type PendingItem } from '../../../trust/index.ts';
import type { CliContext } from '../context.ts';
import { plural } from '../terminal/plural.ts';
import { printableLine } from '../terminal/printable.ts';
import { hang } from '../terminal/wrap.ts';
import { cutInMiddle, isMasked, itemPlace, planFacts, planRemarks } from './item-facts.ts';

/** More lines of one change are counted, not shown. */
const mostLines = 400;
/** Rules that were never approved are shown in short; they are in the files. */
const mostNewLines = 40;

/** What waits for approval, for a person. Secrets are masked. */
export function pendingLines(cli: CliContext, pending: readonly PendingItem[]): readonly string[] {
  return pending.flatMap((each) => ['', ...itemLines(cli, each)]);
}

export function pendingTitle(pending: readonly PendingItem[]): string {
  const servers = pending.filter(({ item }) => item.kind === 'server').length;
  const rules = pending.find(({ item }) => item.kind === 'policy');
  if (servers === 0) {
    return rules?.change === 'new'
      ? 'The rules of this workspace are waiting for your approval.'
      : 'A change to the rules of this workspace is waiting for your approval.';
  }
  const also = rules === undefined ? '' : ` and ${rules.change === 'new' ? 'the rules' : 'a change to the rules'}`;
  const verb = pending.length === 1 ? 'is' : 'are';
  return `${plural(servers, 'server')}${also} of this workspace ${verb} waiting for your approval.`;
}

function itemLines(cli: CliContext, { item, before, change, declined }: PendingItem): readonly string[] {
  const { terminal, mask } = cli;
  const { bold, dim, yellow } = terminal.errColours;
  const width = terminal.errIsTerminal ? terminal.size().columns : undefined;
  const wrapped = (text: string, indent = '    '): string[] => hang(indent, printableLine(text), width);
  const note = declined ? ' (declined before)' : '';
  if (item.kind === 'policy') {
    const isNew = change === 'new';
    // Of new rules, what they say counts, and not that they replace the defaults.
    const lines = changedLines(before, item).filter((line) => !isNew || line.startsWith('+'));
    const diff = diffLines(cli, lines, isNew ? mostNewLines : mostLines);
    return [`  ${bold('the rules')} ${yellow(change)}${note}`, ...diff];
  }
  const title = `  ${bold(printableLine(item.name))} ${yellow(change)}${note}  ${dim(itemPlace(item))}`;
  const facts = planFacts(item.plan, mask.text);
  const remarks = [
    ...planRemarks(item).map(mask.text),
    // Whoever wrote the file may have named a part of the command a secret, so that it is masked wherever it stands.
    ...(isMasked(item.plan, mask.text)
      ? [`is masked in part, as a text that the files call a secret; read ${itemPlace(item)}`]
      : []),
  ];
  const diff = before === undefined ? [] : diffLines(cli, changedLines(before, item));
  return [
    title,
    ...facts.flatMap(({ depth, text }) => wrapped(text, depth === 0 ? '    ' : '      ')),
    ...remarks.flatMap((remark) => wrapped(remark).map(dim)),
    ...diff,
  ];
}

function diffLines({ terminal, mask }: CliContext, lines: readonly string[], most = mostLines): readonly string[] {
  const { green, red, dim } = terminal.errColours;
  if (lines.length === 0)
    return [
      `    ${dim('A value in a file of the workspace changed, or a file that decides what it runs; neither is shown.')}`,
    ];
  const width = terminal.errIsTerminal ? terminal.size().columns : undefined;
  const shown = lines.slice(0, most).flatMap((line) => {
    const [sign, text] = [line.slice(0, 2), printableLine(cutInMiddle(mask.text(line.slice(2))))];
    return hang(`    ${sign}`, text, width).map(line.startsWith('-') ? red : green);
  });
  return lines.length > most ? [...shown, `    … and ${lines.length - most} more`] : shown;
}
