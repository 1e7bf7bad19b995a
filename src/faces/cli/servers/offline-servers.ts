import { createSilentLogger } from '../../../base/index.ts';
import { type ConfiguredServer, placeOf, worstProblem } from '../../../domain/index.ts';
import { createCatalogStore } from '../../../storage/index.ts';
import type { RememberedServer } from '../../../upstream/index.ts';
import { pendingNotice } from '../../../workspace-trust/index.ts';
import type { ServersBody } from '../../api/index.ts';
import type { CliContext } from '../context.ts';
import { stateLayout } from '../hub/state-layout.ts';
import { readWorkspaceTrust } from '../trust/workspace-trust.ts';

/** The configured servers with their cached catalogs; starts nothing. */
export async function readOfflineServers(cli: CliContext, workspace: string): Promise<ServersBody> {
  const { configuration, pending, notices } = await readWorkspaceTrust(cli, workspace);
  const remembered = await createCatalogStore(stateLayout(cli, workspace), {
    clock: cli.clock,
    logger: createSilentLogger(),
  }).load();
  const servers = [...configuration.servers].map(([name, server]) => offlineStatus(server, remembered.get(name)));
  return { servers, problems: [...notices, ...pending.map(pendingNotice), ...configuration.problems] };
}

function offlineStatus(
  server: ConfiguredServer,
  remembered: RememberedServer | undefined,
): ServersBody['servers'][number] {
  if (server.kind === 'invalid') {
    const { name, source, hides, problems } = server;
    const error = worstProblem(problems)?.message;
    return {
      name,
      state: 'invalid',
      source: placeOf(source),
      hides: hides.map(placeOf),
      ...(error === undefined ? {} : { error }),
    };
  }
  if (server.kind === 'untrusted') {
    const { name, transport, source, hides, description } = server;
    const about = description === undefined ? {} : { description };
    return { name, state: 'untrusted', transport, source: placeOf(source), hides: hides.map(placeOf), ...about };
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
    ...(spec.disabledBy === undefined ? {} : { error: `Disabled in ${placeOf(spec.disabledBy)}.` }),
    ...(known === undefined ? {} : { tools: known.tools.length, protocolVersion: known.protocolVersion }),
  };
}
