import { Command } from 'commander';
import type { Clock } from '../../../base/index.ts';
import type { ServerStatus } from '../../../domain/index.ts';
import type { CliContext } from '../context.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import { helpExamples } from '../help-examples.ts';
import { hubWords } from '../hub/hub-words.ts';
import type { LsAnswer } from '../json-shapes.ts';
import { problemLines } from '../servers/problem-lines.ts';
import { createColours } from '../terminal/colours.ts';
import { plural } from '../terminal/plural.ts';
import { printableLine } from '../terminal/printable.ts';
import { type Column, renderTable } from '../terminal/table.ts';
import { hang } from '../terminal/wrap.ts';

export function lsCommand(cli: CliContext): Command {
  return new Command('ls')
    .description('list the servers with their state and configuration file')
    .addHelpText('after', helpExamples('qm ls', "qm ls --json | jq -r '.servers[].name'"))
    .action(async (_options, command: Command) => {
      const invocation = readInvocation(command, cli);
      const answer = await readServers(cli, invocation);
      if (invocation.json) cli.terminal.out(JSON.stringify(answer));
      else print(cli, answer);
      if (answer.problems.some(({ severity }) => severity === 'error')) cli.exitWith(3);
    });
}

/** The running hub knows the states. Without one, the configuration lists the servers. */
async function readServers(cli: CliContext, { workspace }: Invocation): Promise<LsAnswer> {
  const { findHub } = await import('../hub/find-hub.ts');
  const hub = await findHub(cli, workspace);
  if (hub !== undefined) return { hub: hub.url, ...(await hub.servers()) };
  const { readOfflineServers } = await import('../servers/offline-servers.ts');
  return { hub: null, ...(await readOfflineServers(cli, workspace)) };
}

const noServers =
  'No servers are configured here. Add one with `qm add`, use a preset from `qm bootstrap --list`, or set --workspace.';

type Server = LsAnswer['servers'][number];

function print(cli: CliContext, { hub, servers, problems }: LsAnswer): void {
  const { terminal } = cli;
  const { errColours } = terminal;
  // An empty configuration is reported as a problem below.
  if (servers.length === 0 && problems.length === 0) terminal.err(noServers);
  const sorted = servers.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  for (const line of serverLines(cli, sorted)) terminal.out(line);
  for (const line of problemLines(problems, errColours)) terminal.err(line);
  const where =
    hub === null
      ? 'No hub is running here; states are from the configuration.'
      : `From the ${hubWords(hub)}.${hub.startsWith('unix:') ? ' `qm stop` ends it.' : ''}`;
  const ill = sorted.find(({ state }) => unwell.has(state));
  const next = ill === undefined ? '' : ` \`qm doctor ${ill.name}\` explains how to fix it.`;
  terminal.err(errColours.dim(`${where}${next}`));
}

/**
 * A table if there is room. With less room, notes go below their servers; with still less, the other columns do too.
 */
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

/** A note needs at least this many characters to be useful. */
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
  untrusted: 'yellow',
  disabled: 'dim',
  invalid: 'red',
};

/** The error, the entries it hides, or its description; the most urgent first. */
function noteOf({ clock, mask }: CliContext, server: Server): string {
  const { error, hides, description, withheld } = server;
  const parts = [
    error,
    error === undefined ? undefined : nextAttempt(clock, server),
    withheld === undefined ? undefined : `${plural(withheld, 'definition')} withheld.`,
    hides.length === 0 ? undefined : `Hides ${hides.join(', ')}.`,
    error === undefined ? description : undefined,
  ];
  return printableLine(mask.text(parts.filter((part) => part !== undefined).join(' ')));
}

function nextAttempt(clock: Pick<Clock, 'now'>, { state, retryAt }: Server): string | undefined {
  if (retryAt === undefined) return undefined;
  const seconds = Math.max(0, Math.ceil((retryAt - clock.now()) / 1000));
  if (state !== 'open-circuit') return `Next attempt in ${seconds} s.`;
  return `Several attempts failed, so calls fail at once until the next one in ${seconds} s.`;
}
