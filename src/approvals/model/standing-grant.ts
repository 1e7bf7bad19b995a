import type { Approver } from './call-approval.ts';
import { type CallBinding, type CallConditions, changedConditions } from './call-binding.ts';

/** A decision for more than one call of the same caller to the same tool. */
export interface StandingGrant extends CallConditions {
  readonly id: string;
  readonly version: number;
  /** The approval that it was given with. */
  readonly approval: string;
  readonly project: string;
  readonly chain: readonly string[];
  readonly server: string;
  readonly subject: string;
  /** Undefined: any run. */
  readonly run?: string;
  /** Undefined: any arguments. */
  readonly arguments?: string;
  /** Undefined: any number of calls. */
  readonly maxCalls?: number;
  readonly created: number;
  readonly until: number;
  readonly by: Approver;
  /** Never goes back. */
  readonly used: number;
  readonly revoked?: { readonly by: Approver; readonly at: number };
}

/** What a person may add to an approval. Without `maxCalls` and `until`, the grant is for the run. */
export interface GrantTerms {
  readonly run: boolean;
  readonly maxCalls?: number;
  readonly until?: number;
  readonly sameArguments: boolean;
}

/** No grant lives longer: whoever wants more writes a rule. */
export const longestGrantMs: number = 30 * 24 * 60 * 60_000;

export function grantOf(
  binding: CallBinding,
  { run, maxCalls, until, sameArguments }: GrantTerms,
  facts: Pick<StandingGrant, 'id' | 'approval' | 'created' | 'by'>,
): StandingGrant {
  const { project, chain, server, subject, credential, definition, rule } = binding;
  return {
    ...facts,
    version: 1,
    project,
    chain,
    server,
    subject,
    credential,
    definition,
    rule,
    ...(run ? { run: binding.run } : {}),
    ...(sameArguments ? { arguments: binding.arguments } : {}),
    ...(maxCalls === undefined ? {} : { maxCalls }),
    until: Math.min(until ?? Number.POSITIVE_INFINITY, facts.created + longestGrantMs),
    used: 0,
  };
}

/** Whether the grant covers the call. A changed tool, server or rule is another one. */
export function covers(grant: StandingGrant, binding: CallBinding, now: number): boolean {
  return (
    isGrantAlive(grant, now) &&
    grant.project === binding.project &&
    grant.server === binding.server &&
    grant.subject === binding.subject &&
    grant.chain.length === binding.chain.length &&
    grant.chain.every((agent, index) => agent === binding.chain[index]) &&
    (grant.run === undefined || grant.run === binding.run) &&
    (grant.arguments === undefined || grant.arguments === binding.arguments) &&
    binding.inputs === '' &&
    changedConditions(grant, binding).length === 0
  );
}

export function isGrantAlive({ revoked, until, maxCalls, used }: StandingGrant, now: number): boolean {
  return revoked === undefined && now < until && (maxCalls === undefined || used < maxCalls);
}
