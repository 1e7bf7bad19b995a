import { createSilentLogger } from '../../../base/index.ts';
import type { Configuration } from '../../../domain/index.ts';
import type { RememberedServer } from '../../../upstream/index.ts';
import type { CliContext } from '../context.ts';
import type { CompletedKind } from './complete-words.ts';

type Needed = Pick<CliContext, 'env' | 'clock' | 'random'>;

/** Names of the workspace with this prefix, from files only: starts no server and asks no hub. */
export async function completeNames(
  cli: Needed,
  workspace: string,
  kind: CompletedKind,
  beginning: string,
): Promise<string[]> {
  const names = await namesOf(cli, workspace, kind);
  return [...new Set(names)].filter((name) => name.startsWith(beginning) && isPlain(name)).slice(0, maxNames);
}

const maxNames = 2000;

/** Names are printed one per line, so names that would break a line or move the cursor are left out. */
function isPlain(name: string): boolean {
  return name !== '' && name.length <= 256 && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(name);
}

async function namesOf(cli: Needed, workspace: string, kind: CompletedKind): Promise<string[]> {
  if (kind === 'run') {
    const { runNames } = await import('../../../ledger/index.ts');
    return await runNames(workspace, undefined);
  }
  if (kind === 'preset') {
    const { presets } = await import('../../../workspace-files/index.ts');
    return presets.map(({ id }) => id);
  }
  if (kind === 'client') {
    const { knownClients } = await import('../../../clients/index.ts');
    return knownClients.map(({ name }) => name);
  }
  const [configuration, catalogs] = await Promise.all([
    readConfiguration(cli, workspace),
    kind === 'tool' ? readCatalogs(cli, workspace) : undefined,
  ]);
  if (kind === 'server') return [...configuration.servers.keys()];
  if (kind === 'agent') return [...configuration.agents.keys(), ...configuration.roles.keys()];
  return [...configuration.servers].flatMap(([name, server]) => {
    const catalog = catalogs?.get(name);
    if (server.kind !== 'ready' || !server.spec.enabled) return [];
    if (catalog?.connectionKey !== server.spec.connectionKey) return [];
    return catalog.tools.map((tool) => `${name}.${tool.name}`);
  });
}

async function readConfiguration(cli: Needed, workspace: string): Promise<Configuration> {
  const { loadWorkspace } = await import('../servers/load-workspace.ts');
  // A key press must not wait for a keychain, or have it ask for a password.
  return await loadWorkspace({ ...cli, env: { ...cli.env, QM_KEYCHAIN: 'off' } }, workspace);
}

async function readCatalogs(cli: Needed, workspace: string): Promise<ReadonlyMap<string, RememberedServer>> {
  const [{ createCatalogStore }, { stateLayout }] = await Promise.all([
    import('../../../storage/index.ts'),
    import('../hub/state-layout.ts'),
  ]);
  const deps = { clock: cli.clock, logger: createSilentLogger() };
  return await createCatalogStore(stateLayout(cli, workspace), deps).load();
}
