import { type ApprovalDetailBody, changedMembers } from '../../api/index.ts';
import type { CliContext } from '../context.ts';
import { printableLine } from '../terminal/printable.ts';

/** How the arguments differ from those of the last call of the same tool that was approved. */
export function changedArgumentLines(
  now: string,
  last: NonNullable<ApprovalDetailBody['lastApproved']>,
  { red, green, dim }: CliContext['terminal']['colours'],
): string[] {
  const changed = changedMembers(last.argumentsText, now);
  const gone = changed.gone.map((member) => red(`- ${printableLine(member)}`));
  const come = changed.added.map((member) => green(`+ ${printableLine(member)}`));
  const title = `  compared with approval ${last.id}, the last of this tool`;
  if (gone.length + come.length === 0) return [dim(`${title}: the same arguments`)];
  return [title, ...[...gone, ...come].map((line) => `    ${line}`)];
}
