import type { Approvals, CallApproval, StandingGrant } from '../../../approvals/index.ts';
import type { Hub } from '../../../hub/index.ts';
import type { ApprovalDetailBody, ApprovalSummaryBody, GrantBody } from './approval-contract.ts';

/** How many calls of the run are shown. */
const callsShown = 10;

export function approvalBody(
  { approvals: texts }: Hub,
  approvals: Approvals,
  approval: CallApproval,
): ApprovalSummaryBody {
  const { id, binding, question, opened, expires, state } = approval;
  return {
    id,
    ...callerBody(binding.chain),
    server: binding.server,
    tool: binding.subject,
    arguments: JSON.parse(texts.masked(binding.arguments)),
    rule: ruleText(question),
    run: question.runId,
    opened: iso(opened),
    expires: iso(state.kind === 'approved' ? state.until : expires),
    state: approvals.stateOf(approval),
    ...('by' in state ? { by: state.by.name, via: state.by.via } : {}),
    ...reasonIn(state),
    ...('call' in state && state.call !== '' ? { call: state.call } : {}),
  };
}

export async function approvalDetail(
  hub: Hub,
  approvals: Approvals,
  approval: CallApproval,
): Promise<ApprovalDetailBody> {
  const { binding, question, seen, id } = approval;
  const { message, approvers, toolClass } = question;
  const url = hub.approvals.linkTo(id);
  const last = approvals.lastApproved(approval);
  const before = await hub.approvals.callsBefore(approval, callsShown);
  return {
    ...approvalBody(hub, approvals, approval),
    argumentsText: hub.approvals.masked(binding.arguments),
    risk: toolClass,
    ...(message === undefined ? {} : { message }),
    ...(approvers === undefined ? {} : { approvers: [...approvers] }),
    ...(url === undefined ? {} : { url }),
    seen: seen.map(({ by, at }) => ({ by: by.name, at: iso(at) })),
    before: before.map(({ ts, server, tool, outcome }) => ({ ts, server, tool, outcome })),
    ...(last === undefined
      ? {}
      : { lastApproved: { id: last.id, argumentsText: hub.approvals.masked(last.binding.arguments) } }),
  };
}

export function grantBody({ approvals: texts }: Hub, grant: StandingGrant): GrantBody {
  const { id, chain, server, subject, run, arguments: args, maxCalls, used, until, by, approval } = grant;
  return {
    id,
    ...callerBody(chain),
    server,
    tool: subject,
    ...(run === undefined ? {} : { run: run.replace(/^run:/, '') }),
    ...(args === undefined ? {} : { arguments: JSON.parse(texts.masked(args)) as unknown }),
    ...(maxCalls === undefined ? {} : { calls: maxCalls }),
    used,
    until: iso(until),
    by: by.name,
    approval,
  };
}

function callerBody(chain: readonly string[]): { readonly agent: string; readonly chain?: string[] } {
  const [agent = ''] = chain;
  return chain.length > 1 ? { agent, chain: [...chain] } : { agent };
}

function ruleText({ rule, ruleSource }: CallApproval['question']): string | null {
  return rule === null || ruleSource === null ? rule : `${rule} (${ruleSource})`;
}

function reasonIn(state: CallApproval['state']): { readonly reason?: string } {
  if (state.kind === 'void') return { reason: state.why };
  return state.kind === 'denied' && state.reason !== undefined ? { reason: state.reason } : {};
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
