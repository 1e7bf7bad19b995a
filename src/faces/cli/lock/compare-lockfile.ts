import { join } from 'node:path';
import { type Lockfile, lockfileName, parseLockfile } from '../../../config/index.ts';
import { type Configuration, type DefinitionChange, definitionChanges, noPins } from '../../../domain/index.ts';
import { openFile } from '../../../workspace-files/index.ts';
import { definitionsSchema, type ServerDefinitionsBody } from '../../api/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { withHub } from '../hub/join-hub.ts';
import { loadWorkspace } from '../servers/load-workspace.ts';
import { unknownServer } from '../servers/unknown-server.ts';
import { listedPins } from './locked-server.ts';

/** One server, compared with the lockfile on disk. */
export interface ComparedServer {
  readonly server: string;
  /** What it lists. Undefined if it did not answer, so that nothing is known. */
  readonly listed: ServerDefinitionsBody | undefined;
  readonly changes: readonly ComparedChange[];
}

export interface ComparedChange extends DefinitionChange {
  readonly before?: string;
  readonly after?: string;
}

export interface Comparison {
  /** Undefined: there is no lockfile. The changes are those since the first sight. */
  readonly lockfile: Lockfile | undefined;
  /** The enabled servers that were asked, in the order of the configuration. */
  readonly servers: readonly ComparedServer[];
  readonly configuration: Configuration;
}

export interface CompareOptions {
  /** Undefined: all. */
  readonly names: readonly string[] | undefined;
  readonly foreground?: boolean | undefined;
  /** Ignore what is in the lockfile. */
  readonly fresh?: boolean | undefined;
}

/** Has the hub read the lists of servers, and compares them with the lockfile. */
export async function compareLockfile(
  cli: CliContext,
  invocation: Invocation,
  { names, foreground, fresh }: CompareOptions,
): Promise<Comparison> {
  const { workspace } = invocation;
  const configuration = await loadWorkspace(cli, workspace);
  const enabled = enabledServers(configuration);
  for (const name of names ?? []) if (!configuration.servers.has(name)) throw unknownServer(name, enabled);
  const { text } = await openFile(cli, join(workspace, lockfileName), lockfileName);
  const lockfile = text === undefined || fresh === true ? undefined : parseLockfile(text);
  const wanted = enabled.filter((name) => names?.includes(name) !== false);
  cli.terminal.progress(`Asking ${wanted.join(', ')} …`);
  const answer = await withHub(cli, invocation, { foreground }, (hub) =>
    hub.operate({ name: 'definitions', params: { servers: wanted } }),
  );
  const listed = new Map(definitionsSchema.parse(answer).servers.map((each) => [each.server, each]));
  const servers = wanted.map((server) => compareServer(server, listed.get(server), lockfile));
  return { lockfile, servers, configuration };
}

function compareServer(
  server: string,
  listed: ServerDefinitionsBody | undefined,
  lockfile: Lockfile | undefined,
): ComparedServer {
  if (listed?.live !== true) return { server, listed: undefined, changes: [] };
  if (lockfile === undefined) return { server, listed, changes: listed.changes };
  const texts = new Map(listed.changes.map((change) => [`${change.kind} ${change.name}`, change]));
  const changes = definitionChanges(lockfile.get(server) ?? noPins, listedPins(listed)).map((change) => {
    const { before, after } = texts.get(`${change.kind} ${change.name}`) ?? {};
    return { ...change, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
  });
  return { server, listed, changes };
}

function enabledServers({ servers }: Configuration): readonly string[] {
  return [...servers].flatMap(([name, server]) => (server.kind === 'ready' && server.spec.enabled ? [name] : []));
}
