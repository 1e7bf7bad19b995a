import type { ApprovalChange, Approver, CallApproval } from '../../approvals/index.ts';
import type { Logger } from '../../base/index.ts';
import type { Ledger } from '../../ledger/index.ts';
import type { ProjectFacts } from '../events/hub-event.ts';

/** The event for clients of the API; undefined for changes that are none. */
export function approvalEvent(change: ApprovalChange): ProjectFacts | undefined {
  if (!('approval' in change) || change.type === 'approval.seen') return undefined;
  const { type, approval } = change;
  const { id, binding, state, expires } = approval;
  const by = approverIn(approval);
  const [agent = ''] = binding.chain;
  const facts = { id, agent, server: binding.server, tool: binding.subject, state: state.kind, expires };
  return { type, ...facts, ...(by === undefined ? {} : { by: by.name }) };
}

/** Decisions give rights, so they are in the chain with the calls. */
export function recordChange(
  { ledger, logger }: { readonly ledger: Ledger; readonly logger: Logger },
  change: ApprovalChange,
): void {
  const act = actOf(change);
  if (act === undefined) return;
  const { what, by, subject } = act;
  ledger
    .admin({ who: by.name, how: by.via, what, subject })
    .catch((error: unknown) => logger.error('ledger.act-not-recorded', { act: what, error }));
}

type AdminAct = Parameters<Ledger['admin']>[0]['what'];

function actOf(
  change: ApprovalChange,
): { readonly what: AdminAct; readonly by: Approver; readonly subject: string } | undefined {
  switch (change.type) {
    case 'approval.decided': {
      const { state } = change.approval;
      const by = approverIn(change.approval);
      const outcome = state.kind === 'denied' ? 'denied' : 'approved';
      return by && { what: 'approval.decided', by, subject: `${outcome} ${subjectOf(change.approval)}` };
    }
    case 'approval.closed': {
      const { state } = change.approval;
      if (state.kind !== 'closed') return undefined;
      const outcome = state.ran ? 'ran' : 'did not run';
      return { what: 'approval.resolved', by: state.closedBy, subject: `${outcome}: ${subjectOf(change.approval)}` };
    }
    case 'grant.created':
    case 'grant.revoked': {
      const { id, chain, server, subject } = change.grant;
      return { what: change.type, by: change.by, subject: `${id} for ${chain[0] ?? ''} ${server}.${subject}` };
    }
    default:
      return undefined;
  }
}

function subjectOf({ id, binding: { chain, server, subject } }: CallApproval): string {
  return `${id} of ${chain[0] ?? ''} ${server}.${subject}`;
}

function approverIn({ state }: CallApproval): Approver | undefined {
  return 'by' in state ? state.by : undefined;
}
