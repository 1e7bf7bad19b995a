import type { CallApproval } from '../../approvals/index.ts';
import { HubError } from '../../base/index.ts';
import type { Target } from '../target.ts';

/** A person said no. The agent reads why, and what would be allowed. */
export function deniedByPerson({ server, subjectName: tool }: Target, { id, state }: CallApproval): HubError {
  const { by, reason, suggestion } = state.kind === 'denied' ? state : {};
  const because = reason === undefined ? 'without a reason' : `with this reason: ${reason}`;
  return new HubError('POLICY_DENIED', `${by?.name ?? 'Somebody'} denied this call of ${server}.${tool}, ${because}`, {
    hint:
      suggestion === undefined
        ? 'Nothing was sent. Do not repeat the call; do something else, or ask your user.'
        : `Nothing was sent. These arguments are approved for one call: ${suggestion}`,
    details: { server, tool, approval: id, ...(suggestion === undefined ? {} : { suggestion }) },
  });
}

export function nobodyDecided({ server, subjectName: tool }: Target, { id }: CallApproval): HubError {
  return new HubError('APPROVAL_REQUIRED', `Nobody decided on approval ${id} for ${server}.${tool} in time.`, {
    hint: 'Nothing was sent. Call again to ask again.',
    details: { server, tool, approval: id },
  });
}

/** This hub has nobody to ask. */
export function nobodyToAsk({ server, subjectName: tool }: Target): HubError {
  return new HubError('APPROVAL_REQUIRED', `A rule requires approval for ${server}.${tool}, and nobody can be asked.`, {
    hint: 'Nothing was sent. An operator can change the rule.',
    details: { server, tool },
  });
}

/** The caller asks far more often than anybody could decide. */
export function askedTooOften({ server, subjectName: tool }: Target): HubError {
  return new HubError(
    'APPROVAL_REQUIRED',
    `A rule requires approval for ${server}.${tool}, and too many calls ask for it.`,
    {
      hint: 'Nothing was sent. Wait a minute before you call again.',
      details: { server, tool },
    },
  );
}

/** While the call waited for its server, a rule came to require approval. */
export function askedMeanwhile({ server, subjectName: tool }: Target): HubError {
  return new HubError('APPROVAL_REQUIRED', `A rule requires approval for ${server}.${tool} by now.`, {
    hint: 'Nothing was sent. Call again to ask for it.',
    details: { server, tool },
  });
}
