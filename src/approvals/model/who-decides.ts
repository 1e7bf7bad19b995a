import { HubError } from '../../base/index.ts';
import type { Approver, CallApproval } from './call-approval.ts';

/** What the operator set about decisions. */
export interface DecidingRules {
  /** The person behind the call may not approve it. */
  readonly fourEyes: boolean;
  /** `page`: only over a one-time link, whose credential is not on this machine's disk. */
  readonly require: 'any' | 'page';
}

/** Throws HubError if this approver may not decide this question. */
export function expectMayDecide(approval: CallApproval, by: Approver, { fourEyes, require }: DecidingRules): void {
  const { id, question } = approval;
  if (require === 'page' && by.via !== 'page') {
    throw notAllowed(
      `Approval ${id} can be decided only on its page, because approvals.require is page.`,
      'Open its link.',
    );
  }
  // The admin token alone does not say who holds it, so it may be the asker.
  if (fourEyes && (by.name === question.asker || by.via === 'api')) {
    const message = `${by.name} may be behind the call of approval ${id}, and approvals.four_eyes wants another person.`;
    throw notAllowed(message, 'Ask somebody else to decide.');
  }
  if (question.approvers !== undefined && !question.approvers.includes(by.name)) {
    const message = `The rule behind approval ${id} lets only ${question.approvers.join(', ')} decide, and you are ${by.name}.`;
    throw notAllowed(message, 'Ask one of them, or change "approvers" in the rule.');
  }
}

function notAllowed(message: string, hint: string): HubError {
  return new HubError('APPROVAL_NOT_YOURS', message, { hint: `${hint} Nothing was changed.` });
}
