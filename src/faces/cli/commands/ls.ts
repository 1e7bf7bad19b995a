import { Command } from 'commander';
import type { ServerStatus } from '../../../domain/index.ts';
import type { CliContext } from '../context.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import type { LsAnswer } from '../json-shapes.ts';
import { oneLine } from '../printable.ts';
import { problemLines } from '../problem-lines.ts';
import { renderTable } from '../table.ts';

export function lsCommand(cli: CliContext): Command {
  return new Command('ls')
    .description('list the servers, their state and where each is configured')
    .action(async (_options, command: Command) => {
      const invocation = readInvocation(command, cli);
      const answer = await readServers(cli, invocation);
      if (invocation.json) cli.terminal.out(JSON.stringify(answer));
      else print(cli, answer);
      if (answer.problems.some(({ severity }) => severity === 'error')) cli.exitWith(3);
    });
}

/** The running hub knows states; without one, the configuration knows the servers. */
async function readServers(cli: CliContext, { workspace }: Invocation): Promise<LsAnswer> {
  const { findHub } = await import('../find-hub.ts');
  const hub = await findHub(workspace);
  if (hub !== undefined) return { hub: hub.url, ...(await hub.servers()) };
  const { readOfflineServers } = await import('../offline-servers.ts');
  return { hub: null, ...(await readOfflineServers(cli, workspace)) };
}

function print({ terminal, clock, mask }: CliContext, { hub, servers, problems }: LsAnswer): void {
  const { colours, errColours } = terminal;
  if (servers.length === 0) {
    terminal.err('No servers are configured here. Write .mcp.json or quartermaster.yaml, or name a --workspace.');
  } else {
    const lines = renderTable(
      servers,
      [
        { title: 'NAME', text: ({ name }) => name, paint: colours.bold },
        { title: 'STATE', text: ({ state }) => state, paint: (text, { state }) => colours[stateColour[state]](text) },
        { title: 'TRANSPORT', text: ({ transport }) => transport ?? '-' },
        { title: 'TOOLS', text: ({ tools }) => (tools === undefined ? '-' : String(tools)), right: true },
        { title: 'SOURCE', text: ({ source }) => source },
        { title: 'NOTE', text: (server) => mask.text(noteOf(server, clock.now())) },
      ],
      { colours, width: terminal.width },
    );
    for (const line of lines) terminal.out(line);
  }
  for (const line of problemLines(problems, errColours)) terminal.err(line);
  const where = hub === null ? 'No hub runs here: states are from the configuration.' : `From the hub at ${hub}.`;
  terminal.err(errColours.dim(where));
}

const stateColour: Readonly<Record<ServerStatus['state'], 'green' | 'dim' | 'yellow' | 'red'>> = {
  connected: 'green',
  idle: 'dim',
  connecting: 'yellow',
  retrying: 'yellow',
  'needs-login': 'yellow',
  forbidden: 'red',
  'open-circuit': 'red',
  quarantined: 'red',
  disabled: 'dim',
  invalid: 'red',
};

function noteOf({ error, retryAt, description }: LsAnswer['servers'][number], now: number): string {
  if (error === undefined) return oneLine(description ?? '');
  const seconds = retryAt === undefined ? undefined : Math.max(0, Math.ceil((retryAt - now) / 1000));
  return oneLine(seconds === undefined ? error : `${error} Next attempt in ${seconds} s.`);
}
