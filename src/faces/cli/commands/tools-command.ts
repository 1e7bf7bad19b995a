import { Command } from 'commander';
import type { DecisionReason } from '../../../domain/index.ts';
import { checkAgent, withAgent } from '../agents/agent-option.ts';
import type { AgentToolsReport } from '../agents/agent-tools.ts';
import type { CliContext } from '../context.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import { helpExamples } from '../help-examples.ts';
import type { AnyToolRow, ToolRow } from '../json-shapes.ts';
import { printableLine } from '../terminal/printable.ts';
import { type Column, renderTable } from '../terminal/table.ts';

export function toolsCommand(cli: CliContext): Command {
  return withAgent(new Command('tools'), 'the agent')
    .description('list the tools that an agent sees')
    .addHelpText(
      'after',
      helpExamples('qm tools --agent tester', 'qm tools --agent tester --all  # also what is hidden from it, and why'),
    )
    .option('--all', 'also list hidden tools, with the reason')
    .option('--foreground', 'if no hub runs, run it in this process instead of in the background')
    .action((options: ToolsOptions, command: Command) => tools(cli, readInvocation(command, cli), options));
}

interface ToolsOptions {
  readonly agent: string;
  readonly all?: boolean;
  readonly foreground?: boolean;
}

type Row = AgentToolsReport['tools'][number];

async function tools(cli: CliContext, invocation: Invocation, options: ToolsOptions): Promise<void> {
  const { terminal } = cli;
  const agent = checkAgent(options.agent);
  const all = options.all === true;
  const [{ withHub }, { agentToolsSchema }, { settleTrust }] = await Promise.all([
    import('../hub/join-hub.ts'),
    import('../agents/agent-tools.ts'),
    import('../trust/settle-trust.ts'),
  ]);
  if (!invocation.json) await settleTrust(cli, invocation.workspace);
  const report = await withHub(cli, invocation, options, async (hub) => {
    const onEvent = (event: unknown): void => terminal.progress(String(event));
    const request = { name: 'tools', params: { all }, agent, onEvent };
    return agentToolsSchema.parse(await hub.operate(request, cli.signals.graceful()));
  });
  const { problemLines } = await import('../servers/problem-lines.ts');
  for (const line of problemLines(report.problems, terminal.errColours)) terminal.err(line);
  reportUnavailable(cli, report);
  if (report.note !== null) terminal.err(terminal.errColours.dim(report.note));
  const visible = report.tools.filter(({ name }) => name !== null);
  const hidden = report.tools.filter(({ name }) => name === null);
  if (invocation.json) {
    terminal.out(JSON.stringify(all ? report.tools.map(anyToolRow) : visible.map(toolRow)));
    return;
  }
  print(cli, all ? report.tools : visible);
  const more = all ? '' : moreText(visible, hidden);
  sayCounts(cli, agent, visible, `${hiddenText(hidden)}${more}`);
}

function reportUnavailable({ terminal, mask }: CliContext, { unavailable, untrusted }: AgentToolsReport): void {
  const names = untrusted.join(', ');
  if (untrusted.length > 0) {
    const verb = untrusted.length === 1 ? 'is' : 'are';
    terminal.err(`${terminal.errColours.yellow('warning')} ${names} ${verb} not trusted yet; \`qm trust\` shows why.`);
  }
  for (const { name, error, known } of unavailable) {
    const why = error === null ? `Server "${name}" did not answer in time.` : printableLine(mask.text(error));
    const then = known ? 'Its last known tools are listed.' : 'Its tools are not listed.';
    terminal.err(`${terminal.errColours.yellow('warning')} ${why} ${then}`);
  }
}

function toolRow({ name, server, tool, decision }: Row): ToolRow {
  return { name: name ?? '', server, tool, decision: decision === 'ask' ? 'ask' : 'allow' };
}

function anyToolRow({ name, server, tool, decision, reason }: Row): AnyToolRow {
  return { name, server, tool, decision, reason };
}

function print({ terminal }: CliContext, unsorted: readonly Row[]): void {
  const rows = unsorted.toSorted((a, b) => (a.server < b.server ? -1 : a.server > b.server ? 1 : 0));
  const { colours } = terminal;
  if (rows.length === 0) return;
  const lines = tableLines(terminal, rows);
  for (const [at, server] of [...new Set(rows.map((row) => row.server))].entries()) {
    const own = rows.flatMap((row, index) => (row.server === server ? [{ row, line: lines[index] ?? '' }] : []));
    const count = own.filter(({ row }) => row.name !== null).length;
    const title = colours.dim(count === 1 ? '1 tool' : `${count} tools`);
    terminal.out(`${at === 0 ? '' : '\n'}${colours.cyan(server)} ${title}`);
    const reason = printableLine(own[0]?.row.description ?? '');
    const allHidden = own.every(({ row }) => row.name === null && printableLine(row.description) === reason);
    // If one reason hides a whole server, print it once.
    if (allHidden) terminal.say(`  ${colours.dim(`${own.length} hidden: ${reason}`)}`);
    else for (const { line } of own) terminal.out(`  ${line}`);
  }
}

/** A shorter description would not be understandable. */
const leastDescription = 16;

/** On a narrow terminal the names come last and uncut, so that they can be copied. */
function tableLines({ colours, width }: CliContext['terminal'], rows: readonly Row[]): string[] {
  const name: Column<Row> = {
    title: 'NAME',
    text: ({ name: seen, server, tool }) => seen ?? `${server}.${tool}`,
    paint: (text, row) => (row.name === null ? colours.dim(text) : colours.bold(text)),
  };
  const decision: Column<Row> = {
    title: 'DECISION',
    text: (row) => row.decision,
    paint: (text, row) => ({ allow: colours.green, ask: colours.yellow, deny: colours.red })[row.decision](text),
  };
  const description: Column<Row> = {
    title: 'DESCRIPTION',
    text: (row) => printableLine(row.description),
    paint: colours.dim,
    cut: true,
  };
  const room = width === undefined ? undefined : width - 2;
  const taken = Math.max(...rows.map((row) => name.text(row).length)) + 2 + 'allow'.length + 2;
  const fits = room === undefined || taken + leastDescription <= room;
  return fits
    ? renderTable(rows, [name, decision, description], { colours, width: room, titles: false })
    : renderTable(rows, [decision, name], { colours, titles: false });
}

function sayCounts({ terminal }: CliContext, agent: string, visible: readonly Row[], hidden: string): void {
  const asked = visible.filter(({ decision }) => decision === 'ask').length;
  const more = asked === 0 ? '' : `, ${asked} of them only with approval`;
  const gap = terminal.errIsTerminal ? '\n' : '';
  const count = visible.length === 1 ? '1 tool' : `${visible.length === 0 ? 'no' : visible.length} tools`;
  terminal.err(terminal.errColours.dim(`${gap}Agent ${agent} sees ${count}${more}.${hidden}`));
}

/** If no tool is visible and none is known to be hidden, other servers have not been asked. */
function moreText(visible: readonly Row[], hidden: readonly Row[]): string {
  if (hidden.length > 0) return ' --all lists them.';
  return visible.length > 0 ? '' : ' Add --all to ask every server, and to see what is hidden and why.';
}

/** ` 16 are hidden: 13 not routed, 3 by a rule.`, as far as the servers are known. */
function hiddenText(hidden: readonly Row[]): string {
  if (hidden.length === 0) return '';
  const counts = new Map<string, number>();
  for (const { kind } of hidden) {
    const why = hidingWords[kind as DecisionReason['kind']] ?? kind; // a newer hub may know more reasons
    counts.set(why, (counts.get(why) ?? 0) + 1);
  }
  const list = [...counts].map(([why, count]) => `${count} ${why}`).join(', ');
  return ` ${hidden.length} ${hidden.length === 1 ? 'is' : 'are'} hidden: ${list}.`;
}

const hidingWords: Readonly<Record<DecisionReason['kind'], string>> = {
  default: 'by default',
  'too-long': 'with too long a name',
  'unsafe-uri': 'with an unsafe URI',
  'protected-path': 'for a protected path',
  'unclear-path': 'for an unclear path',
  'definition-changed': 'with a definition that nobody accepted',
  'not-routed': 'not routed',
  'not-included': 'not included',
  excluded: 'excluded',
  'no-scope': 'without a scope',
  'read-only': 'of read-only servers',
  'write-approval': 'for approval',
  rule: 'by a rule',
};
