import type { CallApproval } from '../../approvals/index.ts';
import type { Hub } from '../../hub/index.ts';
import { toThrown } from './thrown-errors.ts';

/** A call that waits for a decision. */
export interface HeldCall {
  readonly id: string;
  readonly agent: string;
  readonly server: string;
  readonly tool: string;
  /** JSON text, without secrets. */
  readonly argumentsText: string;
  /** The rule that asks. */
  readonly rule: string | null;
  readonly expires: Date;
}

export interface ProgramApprovals {
  /** The calls that wait for a decision, oldest first. */
  list(): Promise<readonly HeldCall[]>;
  /** Approves one call. `by` is recorded. */
  approve(id: string, by: string): Promise<void>;
  deny(id: string, by: string, reason?: string): Promise<void>;
}

export function createProgramApprovals(hub: Hub): ProgramApprovals {
  const held = ({ id, binding, question, expires }: CallApproval): HeldCall => ({
    id,
    agent: binding.chain[0] ?? '',
    server: binding.server,
    tool: binding.subject,
    argumentsText: hub.approvals.masked(binding.arguments),
    rule: question.rule,
    expires: new Date(expires),
  });
  const decide = async (work: (approvals: Awaited<ReturnType<Hub['approvals']['opened']>>) => Promise<unknown>) => {
    try {
      await work(await hub.approvals.opened());
    } catch (error) {
      throw toThrown(error);
    }
  };
  return {
    async list() {
      const approvals = await hub.approvals.opened();
      return approvals
        .list()
        .filter((approval) => approvals.stateOf(approval) === 'open')
        .map(held);
    },
    approve: (id, by) => decide((approvals) => approvals.approve(id, { name: by, via: 'command' })),
    deny: (id, by, reason) =>
      decide((approvals) => approvals.deny(id, { name: by, via: 'command' }, reason === undefined ? {} : { reason })),
  };
}
