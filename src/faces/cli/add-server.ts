import { join } from 'node:path';
import { HubError } from '../../base/index.ts';
import { isAgentFile, loadFleet } from '../../config/index.ts';
import { type Fleet, type FleetServer, type Problem, placeOf, type SourceRef } from '../../domain/index.ts';
import { speakersFor } from '../../governance/index.ts';
import { appendItem, type Edited, openFile, putMember } from '../../workspace-files/index.ts';
import type { AddOrder } from './add-order.ts';
import { refuseBrokenFile, tryOut, withConfigLock } from './config-change.ts';
import type { CliContext } from './context.ts';

export interface AddedServer {
  readonly source: SourceRef;
  readonly server: FleetServer;
  /** Named agents that have it; null where no agent is routed and so every agent has it. */
  readonly agents: readonly string[] | null;
  /** The file that says which agent has which server. */
  readonly lists: string;
  readonly remarks: readonly string[];
}

const file = 'quartermaster.yaml';

/** Line one of a new file lets editors complete and check it. */
const newFile = `# yaml-language-server: $schema=./node_modules/quartermaster/quartermaster.schema.json
version: 1
`;

/** Makes what goes with a new entry; the answer takes it away again. */
export type MakeBeside = () => Promise<() => Promise<void>>;

/** Writes the server into quartermaster.yaml, after the result was loaded and found good. */
export async function addServer(
  cli: CliContext,
  workspace: string,
  order: AddOrder,
  makeBeside?: MakeBeside,
): Promise<AddedServer> {
  return withConfigLock(cli, workspace, async () => {
    const before = await loadFleet({ env: cli.env }, { workspace });
    refuseBrokenFile(before, [file, 'quartermaster.yml']);
    refuseTaken(before, order.name);
    const opened = await openFile(cli, join(workspace, file), file);
    const route = planRoute(before, order);
    const write = (body: AddOrder['body']): string => edit(opened.text ?? newFile, { ...order, body }, route);
    // Switched off it may lack its variables, so what is still wrong is wrong with the order itself.
    await checkOrder(order, write({ ...order.body, enabled: false }));
    const text = write(order.body);
    refuseBrokenFile(await tryOut(cli.env, [{ file, text }]), [file]);
    const takeBack = await makeBeside?.();
    try {
      await opened.replace(text);
    } catch (error) {
      await takeBack?.();
      throw error;
    }
    return describe(await loadFleet({ env: cli.env }, { workspace }), order, route.remarks);
  });
}

function refuseTaken(fleet: Fleet, name: string): void {
  const taken = fleet.servers.get(name);
  if (taken === undefined) return;
  const { source } = taken.kind === 'ready' ? taken.spec : taken;
  throw new HubError('USAGE', `There is a server ${name} already, in ${placeOf(source)}.`, {
    hint: 'Choose another name, or change or remove that one.',
    details: { server: name },
  });
}

interface Route {
  /** What the edit does for the agent. */
  readonly kind: 'none' | 'append' | 'create';
  readonly remarks: readonly string[];
}

/** A list of servers is a restriction: one must not come into being where it takes others away unnoticed. */
function planRoute(fleet: Fleet, { name, agent }: AddOrder): Route {
  if (agent === undefined) return { kind: 'none', remarks: [] };
  refuseForeign(fleet, agent, name);
  const routed = [...fleet.agents.values()].some(({ servers }) => servers !== undefined);
  const known = fleet.agents.get(agent);
  if (known?.servers !== undefined) return { kind: 'append', remarks: [] };
  if (known !== undefined && routed) {
    const role = fleet.roles.get(agent);
    throw new HubError('USAGE', `Agent ${agent} has no list of servers of its own (${placeOf(known.source)}).`, {
      hint: role === undefined ? 'Write one there first, or use --shared.' : `Its role has: use --agent ${role}.`,
    });
  }
  if (known !== undefined) return { kind: 'none', remarks: [`No agent is routed, so ${agent} has it anyway.`] };
  const consequence = routed ? [] : ['From now on agents that no list names have shared servers only.'];
  return { kind: 'create', remarks: [`Agent ${agent} is new in ${file}.`, ...consequence] };
}

/** An entry of ours hides the agent's own file, and takes the place of all that another file routes. */
function refuseForeign(fleet: Fleet, agent: string, name: string): void {
  const foreign = [...fleet.agents.values()].find(
    ({ name: other, source }) => source.file !== file && (other === agent || !isAgentFile(source.file)),
  );
  if (foreign === undefined) return;
  const place = placeOf(foreign.source);
  const what = isAgentFile(foreign.source.file)
    ? `Agent ${agent} is described in ${place}; an entry in ${file} would hide that.`
    : `Agents are routed in ${place}; a list in ${file} would replace those.`;
  throw new HubError('USAGE', what, { hint: `Leave --agent out, and name ${name} there.` });
}

function edit(text: string, { name, body, agent = '' }: AddOrder, { kind }: Route): string {
  const added = textOf(putMember(text, 'yaml', ['servers'], name, body));
  if (kind === 'append') {
    const appended = appendItem(added, 'yaml', ['agents', agent, 'servers'], name);
    return textOf(
      appended.kind === 'edited' ? appended : appendItem(added, 'yaml', ['agents', agent, 'requires', 'mcp'], name),
    );
  }
  return kind === 'create' ? textOf(putMember(added, 'yaml', ['agents'], agent, { servers: [name] })) : added;
}

function textOf(edited: Edited): string {
  if (edited.kind === 'edited') return edited.text;
  throw new HubError('CONFIG_INVALID', `${file} is written in a way that cannot be changed from here.`, {
    hint: 'Add the server with an editor; docs/configuration.md has the format.',
  });
}

/** Without an environment no variable has a value: a secret that the file would hold is one that was written out. */
async function checkOrder({ name, body }: AddOrder, text: string): Promise<void> {
  const fleet = await tryOut({}, [{ file, text }]);
  const own = fleet.problems.filter(({ server }) => server === name);
  const wrong = own.find(({ severity }) => severity === 'error');
  if (wrong !== undefined) {
    throw new HubError('USAGE', wrong.message, wrong.fix === undefined ? {} : { hint: wrong.fix });
  }
  const literal = own.find((problem) => isLiteral(problem, body, fleet.secrets));
  if (literal === undefined && !holdsAny(JSON.stringify(body), fleet.secrets)) return;
  const [section = 'a value', key] = fieldOf(literal) ?? [];
  const what = key === undefined ? section : `${section}.${key}`;
  throw new HubError('USAGE', `Server ${name}: ${what} looks like a secret, and ${file} is no place for one.`, {
    hint: `Write \${${variableFor(name, section, key)}} in its place (in single quotes, so that the shell leaves it alone), and set that variable in .env.`,
  });
}

function variableFor(name: string, section: string, key: string | undefined): string {
  const words = section === 'env' && key !== undefined ? key : `${name}_TOKEN`;
  return words
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^(?=\d)/, '_');
}

/** A remark about a text without variables can only be that the text is a secret itself. */
function isLiteral(problem: Problem, body: AddOrder['body'], secrets: readonly string[]): boolean {
  const path = fieldOf(problem);
  if (path === undefined || !['env', 'headers', 'args', 'url'].includes(path[0] ?? '')) return false;
  let here: unknown = body;
  for (const key of path) here = typeof here === 'object' && here !== null ? Reflect.get(here, key) : undefined;
  return typeof here === 'string' && (!here.includes('${') || holdsAny(here, secrets));
}

/** `servers.NAME.env.KEY` as `env`, `KEY`; a dot may be part of the last one. */
function fieldOf(problem: Problem | undefined): [string, ...string[]] | undefined {
  const prefix = `servers.${problem?.server}.`;
  if (problem?.field?.startsWith(prefix) !== true) return undefined;
  const [section = '', ...rest] = problem.field.slice(prefix.length).split('.');
  return rest.length === 0 ? [section] : [section, rest.join('.')];
}

function holdsAny(text: string, secrets: readonly string[]): boolean {
  return secrets.some((secret) => text.includes(JSON.stringify(secret).slice(1, -1)));
}

function describe(fleet: Fleet, { name, body, agent }: AddOrder, remarks: readonly string[]): AddedServer {
  const server = fleet.servers.get(name);
  if (server === undefined) throw new HubError('INTERNAL', `Server ${name} was written but is not read.`);
  const { source } = server.kind === 'ready' ? server.spec : server;
  const routed = [...fleet.agents.values()].some(({ servers }) => servers !== undefined);
  const agents = routed
    ? [...fleet.agents.keys()].filter((each) => body.shared === true || isRouted(fleet, each, name))
    : null;
  const role = agent === undefined ? undefined : fleet.roles.get(agent);
  const without = agents !== null && agent !== undefined && !agents.includes(agent);
  const why = without ? [`Agent ${agent} does not have it yet: the list of its role ${role} must name it too.`] : [];
  const lists = [...fleet.agents.values()][0]?.source.file ?? file;
  return { source, server, agents, lists, remarks: [...remarks, ...why] };
}

/** As the lists say; a server that lacks a variable is routed all the same. */
function isRouted(fleet: Fleet, agent: string, server: string): boolean {
  const lists = speakersFor(fleet, agent).flatMap(({ entry }) => (entry.servers === undefined ? [] : [entry.servers]));
  return lists.length > 0 && lists.every((list) => list.includes(server));
}
