import { join } from 'node:path';
import { HubError } from '../../../base/index.ts';
import { isAgentFile } from '../../../config/index.ts';
import { type Configuration, type ConfiguredServer, placeOf, type SourceRef } from '../../../domain/index.ts';
import { policyEntriesFor } from '../../../governance/index.ts';
import { appendItem, type Edited, newConfigFile, openFile, putMember } from '../../../workspace-files/index.ts';
import { onRecord } from '../acts/operator-log.ts';
import { agentNames } from '../agents/agent-names.ts';
import type { CliContext } from '../context.ts';
import { beforeWriting } from '../trust/approve-written.ts';
import type { AddOrder } from './add-order.ts';
import { refuseBrokenFile, tryOut, withConfigLock } from './config-change.ts';
import { findLiteral } from './literal-in-order.ts';
import { loadWorkspace } from './load-workspace.ts';
import { storeLiterals } from './store-literals.ts';

export interface AddedServer {
  readonly source: SourceRef;
  readonly server: ConfiguredServer;
  /** The named agents that have it; null if no agent is routed, so every agent has it. */
  readonly agents: readonly string[] | null;
  /** The file that lists the servers of each agent. */
  readonly lists: string;
  readonly remarks: readonly string[];
}

const file = 'quartermaster.yaml';

/** Creates the files that belong to a new entry; returns a function that removes them. */
export type MakeBeside = () => Promise<() => Promise<void>>;

/** Writes the server to quartermaster.yaml, after a trial load of the result. */
export async function addServer(
  cli: CliContext,
  workspace: string,
  given: AddOrder,
  makeBeside?: MakeBeside,
): Promise<AddedServer> {
  // A person may take long to answer, so the lock is taken afterwards.
  const order = await moveSecrets(cli, workspace, given);
  return withConfigLock(cli, workspace, async () => {
    const approval = await beforeWriting(cli, workspace);
    const before = await loadWorkspace(cli, workspace);
    refuseBrokenFile(before, [file, 'quartermaster.yml']);
    refuseTaken(before, order.name);
    const opened = await openFile(cli, join(workspace, file), file);
    approval.refuseOther(file, opened.text);
    const route = planRoute(before, order);
    const write = (body: AddOrder['body']): string =>
      edit(opened.text ?? newConfigFile(workspace), { ...order, body }, route);
    // A disabled server may lack its variables, so any remaining problem is in the order itself.
    await checkOrder(order, write({ ...order.body, enabled: false }));
    const text = write(order.body);
    refuseBrokenFile(await tryOut(cli.env, [{ file, text }]), [file]);
    await onRecord(cli, workspace, [{ what: 'server.added', subject: order.name, detail: `in ${file}` }], async () => {
      const takeBack = await makeBeside?.();
      try {
        await opened.replace(text);
      } catch (error) {
        await takeBack?.();
        throw error;
      }
    });
    await approval.approve(new Map([[file, text]]), [order.name]);
    return describe(await loadWorkspace(cli, workspace), order, route.remarks);
  });
}

function refuseTaken(configuration: Configuration, name: string): void {
  const taken = configuration.servers.get(name);
  if (taken === undefined) return;
  const { source } = taken.kind === 'ready' ? taken.spec : taken;
  throw new HubError('USAGE', `Server ${name} exists already, in ${placeOf(source)}.`, {
    hint: 'Choose another name, or change or remove that server.',
    details: { server: name },
  });
}

interface Route {
  /** How the edit changes the agent's list. */
  readonly kind: 'none' | 'append' | 'create';
  readonly remarks: readonly string[];
}

/** A list of servers is a restriction: do not create one that silently takes other servers away. */
function planRoute(configuration: Configuration, { name, agent }: AddOrder): Route {
  if (agent === undefined) return { kind: 'none', remarks: [] };
  refuseForeign(configuration, agent, name);
  const routed = [...configuration.agents.values()].some(({ servers }) => servers !== undefined);
  const known = configuration.agents.get(agent);
  if (known?.servers !== undefined) return { kind: 'append', remarks: [] };
  if (known !== undefined && routed) {
    const role = configuration.roles.get(agent);
    throw new HubError('USAGE', `Agent ${agent} has no list of servers (${placeOf(known.source)}).`, {
      hint: role === undefined ? 'Write one there first, or use --shared.' : `Its role has: use --agent ${role}.`,
    });
  }
  if (known !== undefined) return { kind: 'none', remarks: [`No agent is routed, so ${agent} has it anyway.`] };
  const consequence = routed ? [] : ['From now on, agents without a list of servers get shared servers only.'];
  return { kind: 'create', remarks: [`Added agent ${agent} in ${file}.`, ...consequence] };
}

/** An entry in our file would hide the agent's own file, or replace all routes of another file. */
function refuseForeign(configuration: Configuration, agent: string, name: string): void {
  const foreign = [...configuration.agents.values()].find(
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
  const added = textOf(putMember(text, 'yaml', ['servers', name], body));
  if (kind === 'append') {
    const appended = appendItem(added, 'yaml', ['agents', agent, 'servers'], name);
    return textOf(
      appended.kind === 'edited' ? appended : appendItem(added, 'yaml', ['agents', agent, 'requires', 'mcp'], name),
    );
  }
  return kind === 'create' ? textOf(putMember(added, 'yaml', ['agents', agent], { servers: [name] })) : added;
}

function textOf(edited: Edited): string {
  if (edited.kind === 'edited') return edited.text;
  throw new HubError('CONFIG_INVALID', `${file} has a form that this command cannot edit.`, {
    hint: 'Add the server with an editor; docs/configuration.md has the format.',
  });
}

/** Throws if the order has a mistake, or a secret that would be readable in the file. */
async function checkOrder(order: AddOrder, text: string): Promise<void> {
  const literal = await findLiteral(order, file, text);
  if (literal === undefined) return;
  const { what, variable } = literal;
  throw new HubError('USAGE', `Server ${order.name}: ${what} looks like a secret, and ${file} must not contain one.`, {
    hint: `Write \${${variable}} instead (in single quotes, so that the shell does not expand it), and store the value with \`qm secret set ${variable}\`.`,
  });
}

/** Offers to store each secret in the order, so that the file has only its name. Without a terminal, nobody is asked. */
async function moveSecrets(cli: CliContext, workspace: string, order: AddOrder): Promise<AddOrder> {
  if (cli.stdin.isTTY !== true || !cli.terminal.errIsTerminal) return order;
  const before = await loadWorkspace(cli, workspace);
  refuseBrokenFile(before, [file, 'quartermaster.yml']);
  refuseTaken(before, order.name);
  const textOfOrder = ({ body }: AddOrder): string =>
    edit(newConfigFile(workspace), { ...order, body: { ...body, enabled: false } }, { kind: 'none', remarks: [] });
  return await storeLiterals(cli, workspace, order, (next) => findLiteral(next, file, textOfOrder(next)));
}

function describe(
  configuration: Configuration,
  { name, body, agent }: AddOrder,
  remarks: readonly string[],
): AddedServer {
  const server = configuration.servers.get(name);
  if (server === undefined) throw new HubError('INTERNAL', `Server ${name} was written, but the hub does not read it.`);
  const { source } = server.kind === 'ready' ? server.spec : server;
  const routed = [...configuration.agents.values()].some(({ servers }) => servers !== undefined);
  const agents = routed
    ? agentNames(configuration).filter((each) => body.shared === true || isRouted(configuration, each, name))
    : null;
  const role = agent === undefined ? undefined : configuration.roles.get(agent);
  const without = agents !== null && agent !== undefined && !agents.includes(agent);
  const why = without ? [`Agent ${agent} does not have it yet: the list of its role ${role} must name it too.`] : [];
  const lists = [...configuration.agents.values()][0]?.source.file ?? file;
  return { source, server, agents, lists, remarks: [...remarks, ...why] };
}

/** Judged by the lists alone; a server that lacks a variable is routed all the same. */
function isRouted(configuration: Configuration, agent: string, server: string): boolean {
  const lists = policyEntriesFor(configuration, agent).flatMap(({ entry }) =>
    entry.servers === undefined ? [] : [entry.servers],
  );
  return lists.length > 0 && lists.every((list) => list.includes(server));
}
