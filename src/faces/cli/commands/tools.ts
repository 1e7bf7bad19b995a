import { Command } from 'commander';
import type { Hub } from '../../../hub/index.ts';
import type { AgentTool } from '../../library/index.ts';
import { checkAgent, withAgent } from '../agent-option.ts';
import type { CliContext } from '../context.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import type { AnyToolRow, ToolRow } from '../json-shapes.ts';
import { oneLine } from '../printable.ts';
import { renderTable } from '../table.ts';

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

/** Long enough for servers that fetch themselves first; who is late is named. */
const discoveryMs = 10_000;

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
  if (options.all === true) {
    // The hub has ended and written down what it learnt, also of servers that the agent does not see.
    const { listHiddenTools } = await import('../hidden-tools.ts');
    const hidden = await listHiddenTools(cli, seen.hub, agent, seen.tools);
    const rows = [...seen.tools.map((tool) => visibleRow(seen.hub, agent, tool)), ...hidden];
    if (invocation.json) terminal.out(JSON.stringify(rows.map(({ description: _, ...row }) => row)));
    else print(cli, agent, rows);
  } else if (invocation.json) terminal.out(JSON.stringify(seen.tools.map(toolRow)));
  else
    print(
      cli,
      agent,
      seen.tools.map((tool) => visibleRow(seen.hub, agent, tool)),
    );
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
  await discoverWithin(hub, servers, { clock: cli.clock, limitMs: discoveryMs, signal: cli.signals.graceful() });
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

function print({ terminal }: CliContext, agent: string, unsorted: readonly Row[]): void {
  const rows = unsorted.toSorted((a, b) => (a.server < b.server ? -1 : a.server > b.server ? 1 : 0));
  const { colours, errColours, width } = terminal;
  if (rows.length === 0) {
    terminal.err(`Agent ${agent} sees no tools. \`qm tools --agent ${agent} --all\` says why.`);
    return;
  }
  const lines = renderTable(
    rows,
    [
      {
        title: 'NAME',
        text: ({ name, server, tool }) => name ?? `${server}.${tool}`,
        paint: (text, row) => (row.name === null ? colours.dim(text) : colours.bold(text)),
      },
      {
        title: 'DECISION',
        text: ({ decision }) => decision,
        paint: (text, { decision }) =>
          ({ allow: colours.green, ask: colours.yellow, deny: colours.red })[decision](text),
      },
      { title: 'DESCRIPTION', text: ({ description }) => description, paint: colours.dim },
    ],
    { colours, width: width === undefined ? undefined : width - 2, titles: false },
  );
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
  const visible = rows.filter(({ name }) => name !== null);
  const asked = visible.filter(({ decision }) => decision === 'ask').length;
  const more = asked === 0 ? '' : `, ${asked} of them only with approval`;
  terminal.err(errColours.dim(`\nAgent ${agent} sees ${visible.length} tools${more}.`));
}
