import type { TrustItem, TrustSource } from '../../../trust/index.ts';
import type { TrustChanges } from '../../../workspace-trust/index.ts';
import type { CliContext } from '../context.ts';
import type { OperatorAct } from './operator-act.ts';
import { onRecord } from './operator-log.ts';

/** The same changes, each in the audit log before it takes effect. */
export function recordTrust(cli: CliContext, workspace: string, changes: TrustChanges): TrustChanges {
  const on = (acts: readonly OperatorAct[], work: () => Promise<void>): Promise<void> =>
    onRecord(cli, workspace, acts, work);
  return {
    itemsOf: changes.itemsOf,
    approvedServers: changes.approvedServers,
    approve: (loaded, items, how) =>
      on(itemActs('trust.approved', items, sources[how]), () => changes.approve(loaded, items, how)),
    approveRemoval: (loaded, items) =>
      on(itemActs('trust.approved', items, 'after a removal'), () => changes.approveRemoval(loaded, items)),
    decline: (loaded, items, how) =>
      on(itemActs('trust.declined', items, sources[how]), () => changes.decline(loaded, items, how)),
    revoke: (servers) => on(revoked(servers, false), () => changes.revoke(servers)),
    withdraw: (servers) => on(revoked(servers, false), () => changes.withdraw(servers)),
    revokeEarlier: (which) =>
      on(revoked(which.servers, which.rules, 'earlier versions'), () => changes.revokeEarlier(which)),
  };
}

const sources: Readonly<Record<TrustSource, string>> = {
  terminal: 'answered',
  command: 'named or written by a command',
  digest: 'by its digest',
  flag: 'with --trust',
};

/** The hash tells versions apart, and says nothing about values without the key of the state folder. */
function itemActs(what: OperatorAct['what'], items: readonly TrustItem[], why: string): OperatorAct[] {
  return items.map((item) => ({
    what,
    subject: item.kind === 'server' ? `server ${item.name}` : 'rules',
    detail: `${why}, version ${item.hash.slice(0, 12)}`,
  }));
}

function revoked(servers: readonly string[] | undefined, rules: boolean, detail?: string): OperatorAct[] {
  const names = servers === undefined ? ['all servers'] : servers.map((name) => `server ${name}`);
  return [...names, ...(rules ? ['rules'] : [])].map((subject) => ({ what: 'trust.revoked', subject, detail }));
}
