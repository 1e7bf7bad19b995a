import type { Approver, CallApproval } from '../../../src/approvals/index.ts';
import type { Hub } from '../../../src/hub/index.ts';
import { type Config, openStage, type Stage, stdioServer } from '../../support/hub.ts';
import { eventually } from '../../support/within.ts';

export const ann: Approver = { name: 'ann', via: 'terminal' };
export const bob: Approver = { name: 'bob', via: 'terminal' };

/** Every tool of the server `echo` requires approval. */
export function askingConfig(more: object = {}): Config {
  return {
    servers: { echo: stdioServer('echo-stdio.mjs') },
    policies: { tools: { 'echo.*': 'require-approval' } },
    ...more,
  };
}

export async function askingStage(more: object = {}): Promise<Stage> {
  const stage = await openStage();
  await stage.start(askingConfig(more));
  await stage.names();
  return stage;
}

/** Waits until as many questions are open, and returns them. */
export function openQuestions(hub: Hub, count = 1): Promise<readonly CallApproval[]> {
  return eventually(async () => {
    const approvals = await hub.approvals.opened();
    const open = approvals.list().filter((approval) => approvals.stateOf(approval) === 'open');
    return open.length === count ? open : undefined;
  }, `${count} open questions`);
}

export async function question(hub: Hub): Promise<CallApproval> {
  const [approval] = await openQuestions(hub);
  if (approval === undefined) throw new Error('one question is open');
  return approval;
}

/** Waits until the approval has that state. */
export function untilState(hub: Hub, id: string, state: string): Promise<CallApproval> {
  return eventually(async () => {
    const approval = (await hub.approvals.opened()).get(id);
    return approval.state.kind === state ? approval : undefined;
  }, `approval ${id} to be ${state}`);
}
