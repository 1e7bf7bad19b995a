import { HubError } from '../../../base/index.ts';
import { lockfileName } from '../../../config/index.ts';
import type { Hub } from '../../../hub/index.ts';
import type { AcceptOrderBody } from '../../api/index.ts';
import type { CliContext } from '../context.ts';
import { labelOf } from './definition-labels.ts';
import { withAccepted } from './locked-server.ts';
import { writeLockfile } from './write-lockfile.ts';

/** Accepts definitions for the API. They must be what the server lists now: it may have changed them again. */
export async function acceptInHub(cli: CliContext, hub: Hub, order: AcceptOrderBody): Promise<void> {
  const { server, definitions } = order;
  const report = hub.definitions().find((each) => each.server === server);
  if (report === undefined) {
    throw new HubError('SERVER_UNKNOWN', `Server "${server}" has listed nothing that could be accepted.`);
  }
  for (const { kind, name, fingerprint } of definitions) {
    const listed = report.definitions.find((each) => each.kind === kind && each.name === name);
    if (listed?.fingerprint !== fingerprint) throw changedAgain(`${server}.${labelOf({ kind, name })}`);
  }
  const { waits } = await writeLockfile(cli, hub.workspace, {
    servers: [server],
    change(before) {
      if (before === undefined) throw noLockfile();
      return new Map(before).set(server, withAccepted(before.get(server), definitions));
    },
  });
  const subject = definitions.map((each) => `${server}.${labelOf(each)}`).join(', ');
  await hub.ledger.admin({ who: 'operator', how: 'api', what: 'definitions.accepted', subject });
  await hub.reload([lockfileName]);
  if (waits.length > 0) throw stillWaits(waits);
}

export function noLockfile(): HubError {
  return new HubError('USAGE', `There is no ${lockfileName} here.`, {
    hint: '`qm lock` writes it, with all definitions of all servers.',
  });
}

export function stillWaits(servers: readonly string[]): HubError {
  const names = servers.join(' ');
  return new HubError('NOT_TRUSTED', `${lockfileName} was written, but changes of ${names} wait for approval.`, {
    hint: `Run \`qm trust ${names}\`: it shows what waits.`,
  });
}

function changedAgain(what: string): HubError {
  return new HubError('INVALID_PARAMS', `${what} is not what its server lists now; nothing was accepted.`, {
    hint: 'Look at it again: GET /api/definitions.',
  });
}
