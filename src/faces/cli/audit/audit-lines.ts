import { localTime } from '../calls/calls-columns.ts';
import { type FittingColumn, fitColumns, naturalWidths } from '../terminal/fit-columns.ts';
import { plural } from '../terminal/plural.ts';
import { printableLine } from '../terminal/printable.ts';
import { renderTable } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { hang } from '../terminal/wrap.ts';
import type { ToolAudit } from './audit-shapes.ts';

type Paper = Pick<Terminal, 'colours' | 'width'>;
type AuditedTool = ToolAudit['tools'][number];

/** What one agent did not use, largest first, and what would remove it. */
export function auditLines(audit: ToolAudit, paper: Paper): string[] {
  const { colours, width } = paper;
  const unused = audit.tools.filter(({ uses }) => uses === 0).toSorted((a, b) => b.tokens - a.tokens);
  const lines = [...headline(audit, unused.length, paper)];
  if (unused.length > 0 && audit.calls > 0) lines.push(...toolTable(unused, paper));
  if (audit.undiscovered.length > 0) {
    const names = audit.undiscovered.join(', ');
    lines.push(...hang('', `Not counted, because nobody listed their tools yet: ${names}.`, width).map(colours.dim));
  }
  if (audit.snippet !== null) {
    lines.push('', `To remove them, merge this into ${audit.file}:`, ...audit.snippet.trimEnd().split('\n'));
  } else if (unused.length > 0 && audit.calls > 0) {
    lines.push(...hang('', `To remove them, leave them out in ${audit.file}.`, width));
  }
  return lines;
}

function headline(
  { agent, calls, runs, tools, tokens, unusedTokens }: ToolAudit,
  unused: number,
  paper: Paper,
): string[] {
  const { colours, width } = paper;
  const name = colours.bold(printableLine(agent));
  const [first = '', ...rest] = hang('', factsOf({ calls, runs, tools, tokens, unusedTokens }, unused), width);
  return [`${name}  ${first}`, ...rest];
}

type Facts = Pick<ToolAudit, 'calls' | 'runs' | 'tools' | 'tokens' | 'unusedTokens'>;

function factsOf({ calls, runs, tools, tokens, unusedTokens }: Facts, unused: number): string {
  const all = `${plural(tools.length, 'tool')}, about ${plural(tokens, 'token')}`;
  if (calls === 0) return `no calls, so nothing shows what it needs; it sees ${all}`;
  const work = `${plural(calls, 'call')} in ${plural(runs, 'run')}`;
  if (unused === 0) return `${work}; it used all of ${all}`;
  return `${work}; ${unused} of ${plural(tools.length, 'tool')} unused, about ${unusedTokens} of ${plural(tokens, 'token')}`;
}

const mostRows = 20;

function toolTable(unused: readonly AuditedTool[], { colours, width }: Paper): string[] {
  const columns: readonly FittingColumn<AuditedTool>[] = [
    { title: 'UNUSED', text: ({ server, tool }) => printableLine(`${server}.${tool}`), paint: colours.bold, least: 12 },
    { title: 'TOKENS', text: ({ tokens }) => String(tokens), right: true },
  ];
  const shown = unused.slice(0, mostRows);
  const lines = renderTable(shown, fitColumns(columns, naturalWidths(columns, shown), width), { colours });
  const more = unused.length - mostRows;
  return more > 0 ? [...lines, colours.dim(`and ${more} more; --json has all`)] : lines;
}

/** How far back the audit log reaches. */
export function periodText(from: string): string {
  return `The audit log was read from ${localTime(from)} on.`;
}
