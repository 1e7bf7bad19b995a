import { Command } from 'commander';
import type { DecisionReason } from '../../../domain/index.ts';
import type { Hub } from '../../../hub/index.ts';
import type { AgentTool } from '../../library/index.ts';
import { checkAgent, withAgent } from '../agent-option.ts';
import type { CliContext } from '../context.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import type { AnyToolRow, ToolRow } from '../json-shapes.ts';
import { oneLine } from '../printable.ts';
import { type Column, renderTable } from '../table.ts';

export function toolsCommand(cli: CliContext): Command {
  return withAgent(new Command('tools'), 'whose view')
    .description('list what an agent sees')
    .option('--all', 'also what it does not see, and why')
    .action((options: ToolsOptions, command: Command) => tools(cli, readInvocation(command, cli), options));
}

interface ToolsOptions {
  readonly agent: string;
  readonly all?: boolean;
}

/** A tool as it is printed. */
interface Row extends AnyToolRow {
  readonly description: string;
}

/** Who is late is named. A server that nobody has seen yet may have to fetch itself first. */
const patienceMs = { seen: 10_000, unseen: 30_000 };

async function tools(cli: CliContext, invocation: Invocation, options: ToolsOptions): Promise<void> {
  const { terminal } = cli;
  const [{ withLocalHub }, { listAgentTools }, { strangerNote }] = await Promise.all([
    import('../local-hub.ts'),
    import('../../library/index.ts'),
    import('../agent-note.ts'),
  ]);
  const agent = checkAgent(options.agent);
  const seen = await withLocalHub(cli, invocation, async (hub) => {
    const wanted = visibleServers(hub, agent, options.all === true);
    await discover(cli, hub, wanted);
    sayWhoIsAway(cli, hub, wanted);
    const note = strangerNote(hub.fleet, agent);
    if (note !== undefined) terminal.err(terminal.errColours.dim(note));
    return { hub, tools: listAgentTools(hub.views.of([agent])) };
  });
  if (invocation.json && options.all !== true) {
    terminal.out(JSON.stringify(seen.tools.map(toolRow)));
    return;
  }
  // The hub has ended and written down what it learnt, also of servers that the agent does not see.
  const { listHiddenTools } = await import('../hidden-tools.ts');
  const hidden = await listHiddenTools(cli, seen.hub, agent, seen.tools);
  const visible = seen.tools.map((tool) => visibleRow(seen.hub, agent, tool));
  const rows = options.all === true ? [...visible, ...hidden] : visible;
  if (invocation.json) terminal.out(JSON.stringify(rows.map(({ description: _, ...row }) => row)));
  else {
    print(cli, rows);
    const more = options.all === true ? '' : moreText(visible, hidden);
    sayCounts(cli, agent, visible, `${hiddenText(seen.hub, agent, hidden)}${more}`);
  }
}

function visibleServers(hub: Hub, agent: string, all: boolean): readonly string[] {
  const ready = hub.status().filter(({ state }) => state !== 'invalid' && state !== 'disabled');
  const names = ready.map(({ name }) => name);
  // Routing answers for any tool of a server, so any name will do.
  return all ? names : names.filter((server) => hub.explain([agent], server, '*').reason.kind !== 'not-routed');
}

async function discover(cli: CliContext, hub: Hub, servers: readonly string[]): Promise<void> {
  const { discoverWithin } = await import('../../library/index.ts');
  cli.terminal.progress(`Asking ${servers.join(', ')} …`);
  const unseen = hub.status().some(({ name, tools }) => servers.includes(name) && tools === undefined);
  const limitMs = unseen ? patienceMs.unseen : patienceMs.seen;
  await discoverWithin(hub, servers, { clock: cli.clock, limitMs, signal: cli.signals.graceful() });
  cli.terminal.progress('');
}

function sayWhoIsAway({ terminal, mask }: CliContext, hub: Hub, wanted: readonly string[]): void {
  for (const { name, state, error, tools } of hub.status()) {
    if (!wanted.includes(name) || state === 'connected') continue;
    const why = error === undefined ? `Server "${name}" did not answer in time.` : oneLine(mask.text(error));
    const then = tools === undefined ? 'Its tools are not listed.' : 'Its tools are listed as they last were.';
    terminal.err(`${terminal.errColours.yellow('warning')} ${why} ${then}`);
  }
}

function toolRow({ name, server, tool, decision }: AgentTool): ToolRow {
  return { name, server, tool, decision };
}

function visibleRow(hub: Hub, agent: string, tool: AgentTool): Row {
  const reason = hub.explain([agent], tool.server, tool.tool).reason.kind;
  return { ...toolRow(tool), reason, description: oneLine(tool.description ?? '') };
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
    const reason = own[0]?.row.description ?? '';
    const allHidden = own.every(({ row }) => row.name === null && row.description === reason);
    // Where one reason hides a whole server, saying it once is enough.
    if (allHidden) terminal.out(`  ${colours.dim(`${own.length} hidden: ${reason}`)}`);
    else for (const { line } of own) terminal.out(`  ${line}`);
  }
}

/** Of a description that has less room than this, nothing is understood. */
const leastDescription = 16;

/** On a narrow terminal the names come last, whole: they are there to be copied. */
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
  const description: Column<Row> = { title: 'DESCRIPTION', text: (row) => row.description, paint: colours.dim };
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

/** Where nothing is seen and nothing known to be hidden, the servers of others have not been asked. */
function moreText(visible: readonly Row[], hidden: readonly Row[]): string {
  if (hidden.length > 0) return ' --all lists them.';
  return visible.length > 0 ? '' : ' --all asks every server, and says why.';
}

/** ` 16 are hidden: 13 not routed, 3 by a rule.`, as far as their servers are known. */
function hiddenText(hub: Hub, agent: string, hidden: readonly Row[]): string {
  if (hidden.length === 0) return '';
  const counts = new Map<string, number>();
  for (const { server, tool } of hidden) {
    const why = hidingWords[hub.explain([agent], server, tool).reason.kind];
    counts.set(why, (counts.get(why) ?? 0) + 1);
  }
  const list = [...counts].map(([why, count]) => `${count} ${why}`).join(', ');
  return ` ${hidden.length} ${hidden.length === 1 ? 'is' : 'are'} hidden: ${list}.`;
}

const hidingWords: Readonly<Record<DecisionReason['kind'], string>> = {
  default: 'by default',
  'too-long': 'with too long a name',
  'unsafe-uri': 'with an unsafe URI',
  'not-routed': 'not routed',
  'not-included': 'not included',
  excluded: 'excluded',
  'no-scope': 'without a scope',
  'read-only': 'of read-only servers',
  'write-approval': 'for approval',
  rule: 'by a rule',
};
