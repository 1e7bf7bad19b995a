import { createSilentLogger } from '../../base/index.ts';
import { loadFleet } from '../../config/index.ts';
import { type FleetServer, placeOf } from '../../domain/index.ts';
import { createCatalogStore, workspaceLayout } from '../../storage/index.ts';
import type { RememberedServer } from '../../upstream/index.ts';
import type { ServersBody } from '../api/index.ts';
import type { CliContext } from './context.ts';

/** The servers as they are written down, with what they last said of themselves; nothing is started. */
export async function readOfflineServers({ env, clock }: CliContext, workspace: string): Promise<ServersBody> {
  const fleet = await loadFleet({ env }, { workspace });
  const remembered = await createCatalogStore(workspaceLayout(workspace), {
    clock,
    logger: createSilentLogger(),
  }).load();
  const servers = [...fleet.servers].map(([name, server]) => offlineStatus(server, remembered.get(name)));
  return { servers, problems: [...fleet.problems] };
}

function offlineStatus(server: FleetServer, remembered: RememberedServer | undefined): ServersBody['servers'][number] {
  if (server.kind === 'invalid') {
    const { name, source, hides, problems } = server;
    const error = problems[0]?.message;
    return {
      name,
      state: 'invalid',
      source: placeOf(source),
      hides: hides.map(placeOf),
      ...(error === undefined ? {} : { error }),
    };
  }
  const { spec } = server;
  const known = remembered?.connectionKey === spec.connectionKey ? remembered : undefined;
  return {
    name: spec.name,
    state: spec.enabled ? 'idle' : 'disabled',
    transport: spec.transport.type,
    source: placeOf(spec.source),
    hides: spec.hides.map(placeOf),
    ...(spec.description === undefined ? {} : { description: spec.description }),
    ...(spec.disabledBy === undefined ? {} : { error: `Switched off in ${placeOf(spec.disabledBy)}.` }),
    ...(known === undefined ? {} : { tools: known.tools.length, protocolVersion: known.protocolVersion }),
  };
}
