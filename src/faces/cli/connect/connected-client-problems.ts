import { existsSync } from 'node:fs';
import { HubError, toHubError } from '../../../base/index.ts';
import { type Client, type ClientConnection, type ClientContext, findClient } from '../../../clients/index.ts';
import type { Configuration, Problem } from '../../../domain/index.ts';
import type { CliContext } from '../context.ts';
import { stateLayout } from '../hub/state-layout.ts';
import { loadTexts } from '../trust/workspace-trust.ts';
import { readClientContext, shownPath } from './client-context.ts';
import { openConnections } from './connection-store.ts';
import { createFileDrafts, type FileDrafts, refuseBrokenText } from './file-drafts.ts';
import { contentAt, type DirectEntry, type DirectScope, findDirect, hubAgentOf } from './find-direct.ts';
import { isSwitchedOff } from './plan-switch.ts';
import { servedBy, unservedBy } from './served-servers.ts';

/** Connected clients that reach a server of the hub without it, or that lost their entry for the hub. */
export async function connectionProblems(
  cli: CliContext,
  workspace: string,
  configuration: Configuration,
): Promise<readonly Problem[]> {
  if (!existsSync(stateLayout(cli, workspace).connections)) return [];
  try {
    const at = await readClientContext(cli, workspace);
    const connections = await (await openConnections(cli, workspace)).list();
    const servers = { served: servedBy(configuration), unserved: unservedBy(configuration) };
    const found = await Promise.all(connections.map((connection) => problemsOf(cli, at, connection, servers)));
    return found.flat();
  } catch (error) {
    const { message, hint } = toHubError(error);
    return [{ severity: 'warning', file: 'connections.json', message, ...(hint === undefined ? {} : { fix: hint }) }];
  }
}

async function problemsOf(
  cli: CliContext,
  at: ClientContext,
  connection: ClientConnection,
  servers: Pick<DirectScope, 'served' | 'unserved'>,
): Promise<readonly Problem[]> {
  const client = findClient(connection.client);
  if (client === undefined) return [];
  const drafts = createFileDrafts(cli, at, undefined);
  const broken: Problem[] = [];
  for (const { path, dialect } of client.files(at)) {
    const file = await drafts.open(path, dialect);
    try {
      refuseBrokenText(at, file);
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      broken.push({ severity: 'warning', file: shownPath(at, path), message: error.message });
    }
  }
  const direct = await findDirect({
    client,
    at,
    ...servers,
    own: { path: connection.file, key: connection.entry },
    textOf: drafts.textOf,
    load: async ({ file, text }) =>
      (await loadTexts(cli, at.workspace, new Map([[file, { kind: 'text', text }]]))).configuration,
  });
  const used: DirectEntry[] = [];
  for (const each of direct) if (!(await isSwitchedOff({ client, at, drafts }, each))) used.push(each);
  const fix = `Run \`qm connect ${client.name} --agent ${connection.agent}\`.`;
  return [
    ...broken,
    ...lostEntry({ client, at, connection, drafts }).map((problem) => ({ ...problem, fix })),
    ...used.map((each) => directProblem({ client, at }, each, fix)),
  ];
}

interface EntryScope {
  readonly client: Client;
  readonly at: ClientContext;
  readonly connection: ClientConnection;
  readonly drafts: FileDrafts;
}

function lostEntry({ client, at, connection, drafts }: EntryScope): readonly Omit<Problem, 'fix'>[] {
  const { file: path, entry, agent, scope, transport } = connection;
  const file = client.places(at).find((place) => place.path === path && place.scope === scope);
  const text = drafts.textOf(path);
  const found = text === undefined ? undefined : file?.entries(text).find(({ key }) => key === entry);
  const shown = { severity: 'warning', file: shownPath(at, path) } as const;
  if (file === undefined || text === undefined || found === undefined) {
    return [{ ...shown, message: `${client.title} is not connected any more: its entry "${entry}" is gone.` }];
  }
  const now = transport === 'stdio' ? hubAgentOf(contentAt(text, file, found), at.workspace) : agent;
  if (now === agent) return [];
  const how = now === undefined ? 'does not lead to this hub any more' : `is for agent ${now} now`;
  return [{ ...shown, message: `${client.title} was connected as ${agent}, but its entry "${entry}" ${how}.` }];
}

function directProblem(
  { client, at }: Pick<EntryScope, 'client' | 'at'>,
  { file, entry, server, reason, unserved }: DirectEntry,
  connectAgain: string,
): Problem {
  const what = reason === 'hub' ? `uses the hub as agent ${server} too` : `reaches server ${server} without the hub`;
  const why = unserved === undefined ? '' : ` The hub does not serve it: ${unserved}.`;
  const path = shownPath(at, file.path);
  const isConnectable = unserved === undefined || client.switchOff(file, entry, at).kind === 'setting';
  return {
    severity: 'warning',
    file: path,
    message: `${client.title} ${what}, by its entry "${entry.key}".${why}`,
    fix: isConnectable ? connectAgain : `Remove the entry from ${path} yourself, or let the hub serve the server.`,
  };
}
