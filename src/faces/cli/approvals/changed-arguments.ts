import type { ApprovalDetailBody } from '../../api/index.ts';
import type { CliContext } from '../context.ts';
import { printableLine } from '../terminal/printable.ts';
import { memberTexts } from './argument-members.ts';

/** How the arguments differ from those of the last call of the same tool that was approved. */
export function changedArgumentLines(
  now: string,
  last: NonNullable<ApprovalDetailBody['lastApproved']>,
  { red, green, dim }: CliContext['terminal']['colours'],
): string[] {
  const [before, after] = [memberTexts(last.argumentsText), memberTexts(now)];
  const gone = before.filter((member) => !after.includes(member)).map((member) => red(`- ${printableLine(member)}`));
  const come = after.filter((member) => !before.includes(member)).map((member) => green(`+ ${printableLine(member)}`));
  const title = `  compared with approval ${last.id}, the last of this tool`;
  if (gone.length + come.length === 0) return [dim(`${title}: the same arguments`)];
  return [title, ...[...gone, ...come].map((line) => `    ${line}`)];
}
