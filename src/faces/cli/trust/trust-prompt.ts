import { HubError } from '../../../base/index.ts';
import type { PendingItem, TrustItem } from '../../../trust/index.ts';
import type { CliContext } from '../context.ts';
import { askLine } from '../terminal/ask-line.ts';
import { pendingLines, pendingTitle } from './pending-lines.ts';

export interface TrustAnswer {
  readonly approved: readonly TrustItem[];
  readonly declined: readonly TrustItem[];
}

/** Whether a person can be asked. */
export function canAsk({ stdin, terminal }: CliContext): boolean {
  return stdin.isTTY === true && terminal.errIsTerminal;
}

/** Shows what waits and asks about it: all at once, or one by one. */
export async function askForTrust(cli: CliContext, pending: readonly PendingItem[]): Promise<TrustAnswer> {
  const { terminal } = cli;
  const items = pending.map(({ item }) => item);
  terminal.err(pendingTitle(pending));
  for (const line of pendingLines(cli, pending)) terminal.err(line);
  terminal.err('');
  if (pending.length === 1) return sorted(items, [await askOnce(cli, one)]);
  const answer = await askOnce(cli, several);
  if (answer !== 'choose')
    return sorted(
      items,
      items.map(() => answer),
    );
  const answers: Answer[] = [];
  for (const item of items) {
    answers.push(await askOnce(cli, `${item.kind === 'server' ? item.name : 'the rules'}: ${one}`));
  }
  return sorted(items, answers);
}

const one = 'Approve? [y]es, [n]o and do not ask again, Enter: not now';
const several = 'Approve all of this? [y]es, [c]hoose one by one, [n]o and do not ask again, Enter: not now';

type Answer = 'yes' | 'no' | 'choose' | 'later';

async function askOnce(cli: CliContext, question: string): Promise<Answer> {
  const answer = await askLine(cli, question);
  if (answer.kind === 'interrupt') throw new HubError('CANCELLED', 'Interrupted. Nothing was approved.');
  const text = answer.kind === 'line' ? answer.text.trim().toLowerCase() : '';
  if (text === 'y' || text === 'yes') return 'yes';
  if (text === 'n' || text === 'no') return 'no';
  return text === 'c' || text === 'choose' ? 'choose' : 'later';
}

function sorted(items: readonly TrustItem[], answers: readonly Answer[]): TrustAnswer {
  return {
    approved: items.filter((_, index) => answers[index] === 'yes'),
    declined: items.filter((_, index) => answers[index] === 'no'),
  };
}
