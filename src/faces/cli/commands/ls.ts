import { Command } from 'commander';
import type { ServerStatus } from '../../../domain/index.ts';
import { createColours } from '../colours.ts';
import type { CliContext } from '../context.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import type { LsAnswer } from '../json-shapes.ts';
import { oneLine } from '../printable.ts';
import { problemLines } from '../problem-lines.ts';
import { type Column, renderTable } from '../table.ts';
import { hang } from '../wrap.ts';

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

const noServers =
  'No servers are configured here. Add one with `qm add`, take a ready one from `qm bootstrap --list`, or name a --workspace.';

type Server = LsAnswer['servers'][number];

function print(cli: CliContext, { hub, servers, problems }: LsAnswer): void {
  const { terminal } = cli;
  const { errColours } = terminal;
  // Where nothing is configured at all, that is a problem of its own below.
  if (servers.length === 0 && problems.length === 0) terminal.err(noServers);
  const sorted = servers.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  for (const line of serverLines(cli, sorted)) terminal.out(line);
  for (const line of problemLines(problems, errColours)) terminal.err(line);
  const where = hub === null ? 'No hub runs here: states are from the configuration.' : `From the hub at ${hub}.`;
  const ill = sorted.find(({ state }) => unwell.has(state));
  const next = ill === undefined ? '' : ` \`qm doctor ${ill.name}\` says what to do.`;
  terminal.err(errColours.dim(`${where}${next}`));
}

/** A table where there is room for it; else notes stand below their servers, and last the facts do too. */
function serverLines(cli: CliContext, servers: readonly Server[]): string[] {
  const { colours, width } = cli.terminal;
  if (servers.length === 0) return [];
  const all = columns(cli);
  const facts = all.slice(0, -1);
  const notes = servers.map((server) => noteOf(cli, server));
  const taken = unpaintedWidth(servers, facts);
  const wanted = Math.min(leastNote, Math.max(...notes.map(({ length }) => length)));
  if (width === undefined || taken + wanted + 2 <= width) return renderTable(servers, all, { colours, width });
  const below = (note: string): string[] => (note === '' ? [] : hang('  ', note, width).map(colours.dim));
  if (taken > width) {
    return servers.flatMap((server, index) => [...blockLines(cli, server, width), ...below(notes[index] ?? '')]);
  }
  const [title = '', ...rows] = renderTable(servers, facts, { colours });
  return [title, ...rows.flatMap((row, index) => [row, ...below(notes[index] ?? '')])];
}

function unpaintedWidth(servers: readonly Server[], columns: readonly Column<Server>[]): number {
  const plain = columns.map(({ paint: _, ...column }): Column<Server> => column);
  return Math.max(...renderTable(servers, plain, { colours: createColours(false) }).map(({ length }) => length));
}

/** In fewer characters nothing can be said. */
const leastNote = 24;

function columns(cli: CliContext): readonly Column<Server>[] {
  const { colours } = cli.terminal;
  return [
    { title: 'NAME', text: ({ name }) => name, paint: colours.bold },
    { title: 'STATE', text: ({ state }) => state, paint: (text, { state }) => colours[stateColour[state]](text) },
    { title: 'TRANSPORT', text: ({ transport }) => transport ?? '-' },
    { title: 'TOOLS', text: ({ tools }) => (tools === undefined ? '-' : String(tools)), right: true },
    { title: 'SOURCE', text: ({ source }) => source },
    { title: 'NOTE', text: (server) => noteOf(cli, server) },
  ];
}

function blockLines({ terminal }: CliContext, server: Server, width: number): string[] {
  const { colours } = terminal;
  const { name, state, transport, tools, source } = server;
  const facts = [transport, tools === undefined ? undefined : `${tools} tools`, source];
  const text = facts.filter((fact) => fact !== undefined).join(' · ');
  return [`${colours.bold(name)}  ${colours[stateColour[state]](state)}`, ...hang('  ', text, width)];
}

const unwell: ReadonlySet<Server['state']> = new Set([
  'retrying',
  'needs-login',
  'forbidden',
  'open-circuit',
  'quarantined',
  'invalid',
]);

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

/** What went wrong, what the server stands before, what it is for; the most pressing first. */
function noteOf({ clock, mask }: CliContext, { error, retryAt, hides, description }: Server): string {
  const seconds = retryAt === undefined ? undefined : Math.max(0, Math.ceil((retryAt - clock.now()) / 1000));
  const parts = [
    error,
    error === undefined || seconds === undefined ? undefined : `Next attempt in ${seconds} s.`,
    hides.length === 0 ? undefined : `Hides ${hides.join(', ')}.`,
    error === undefined ? description : undefined,
  ];
  return oneLine(mask.text(parts.filter((part) => part !== undefined).join(' ')));
}
