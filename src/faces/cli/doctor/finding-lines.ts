import { severityColours } from '../servers/problem-lines.ts';
import { printableLine } from '../terminal/printable.ts';
import { hang } from '../terminal/wrap.ts';
import type { DoctorAnswer } from './diagnosis-shapes.ts';
import type { DoctorPage } from './doctor-lines.ts';

/** A screenful; a server that has more needs a look anyway. */
const mostShown = 20;

/** Findings that nobody acknowledged, warnings first. */
export function findingLines(findings: DoctorAnswer['findings'], { colours, width }: DoctorPage): string[] {
  const open = findings.filter(({ acknowledged }) => !acknowledged);
  if (open.length === 0) return [];
  const sorted = [
    ...open.filter(({ severity }) => severity === 'warning'),
    ...open.filter(({ severity }) => severity === 'note'),
  ];
  const more = sorted.length - mostShown;
  return [
    '',
    colours.bold('Definitions to look at'),
    ...sorted.slice(0, mostShown).flatMap(({ severity, message }) => {
      const [first = '', ...rest] = hang(`  ${severity} `, printableLine(message), width);
      return [`  ${colours[severityColours[severity]](severity)}${first.slice(2 + severity.length)}`, ...rest];
    }),
    ...(more > 0 ? [colours.dim(`  and ${more} more; --json has all`)] : []),
    ...hang('  → ', 'The hub changes no definition. `qm inspect SERVER` shows all of it.', width),
  ];
}
