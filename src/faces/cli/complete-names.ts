import { createSilentLogger } from '../../base/index.ts';
import type { Fleet } from '../../domain/index.ts';
import type { RememberedServer } from '../../upstream/index.ts';
import type { NameKind } from './complete-words.ts';
import type { CliContext } from './context.ts';

/** Names that begin so, of the workspace from files alone: nothing is started and no hub is asked. */
export async function completeNames(
  cli: Pick<CliContext, 'env' | 'clock'>,
  workspace: string,
  kind: NameKind,
  beginning: string,
): Promise<string[]> {
  const names = await namesOf(cli, workspace, kind);
  return [...new Set(names)].filter((name) => name.startsWith(beginning) && isPlain(name)).slice(0, maxNames);
}

const maxNames = 2000;

/** One line each: what would break a line, or move the cursor, is not offered. */
function isPlain(name: string): boolean {
  return name !== '' && name.length <= 256 && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(name);
}

async function namesOf(cli: Pick<CliContext, 'env' | 'clock'>, workspace: string, kind: NameKind): Promise<string[]> {
  if (kind === 'run') {
    const { runNames } = await import('../../ledger/index.ts');
    return await runNames(workspace, undefined);
  }
  if (kind === 'preset') {
    const { presets } = await import('../../workspace-files/index.ts');
    return presets.map(({ id }) => id);
  }
  const [fleet, catalogs] = await Promise.all([
    readFleet(cli, workspace),
    kind === 'tool' ? readCatalogs(cli, workspace) : undefined,
  ]);
  if (kind === 'server') return [...fleet.servers.keys()];
  if (kind === 'agent') return [...fleet.agents.keys(), ...fleet.roles.keys()];
  return [...fleet.servers].flatMap(([name, server]) => {
    const catalog = catalogs?.get(name);
    if (server.kind !== 'ready' || !server.spec.enabled) return [];
    if (catalog?.connectionKey !== server.spec.connectionKey) return [];
    return catalog.tools.map((tool) => `${name}.${tool.name}`);
  });
}

async function readFleet({ env }: Pick<CliContext, 'env'>, workspace: string): Promise<Fleet> {
  const { loadFleet } = await import('../../config/index.ts');
  return await loadFleet({ env }, { workspace });
}

async function readCatalogs(
  { clock }: Pick<CliContext, 'clock'>,
  workspace: string,
): Promise<ReadonlyMap<string, RememberedServer>> {
  const { createCatalogStore, workspaceLayout } = await import('../../storage/index.ts');
  return await createCatalogStore(workspaceLayout(workspace), { clock, logger: createSilentLogger() }).load();
}
