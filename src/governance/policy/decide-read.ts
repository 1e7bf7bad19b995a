import type { WorkBudget } from '../../base/index.ts';
import { type Decision, maxUriLength, type UriProblem } from '../../domain/index.ts';
import { type ChainRights, notRouted, refusedBy, stricter } from './chain-rights.ts';
import { decideByRules } from './rules/decide-by-rules.ts';
import { uriProblem } from './uris/percent-decoding.ts';
import { resourcePrefix } from './uris/read-name.ts';
import { createReadSubject, type FormsOf, type ListedUri } from './uris/read-subject.ts';

export interface ReadToDecide {
  readonly server: string;
  /** `resource:<uri>` or `prompt:<name>`. */
  readonly subject: string;
  readonly origin: FormsOf | ListedUri | undefined;
  readonly budget: WorkBudget | undefined;
}

/** Routing and unsafe URIs first, then tool lists, rules and access settings. */
export function decideRead(rights: ChainRights, { server, subject, origin, budget }: ReadToDecide): Decision {
  const blocked = rights.blockedAt(server);
  if (blocked !== undefined) return notRouted(blocked);
  if (subject.length > resourcePrefix.length + maxUriLength) return tooLong;
  const problem = problemOf(subject, origin);
  if (problem !== undefined) return unsafeUri(problem);
  const read = createReadSubject(server, subject, origin, budget);
  const refusal = refusedBy(rights.filtersOf(server), (filter) => filter.refuseRead(read));
  if (refusal !== undefined) return refusal;
  const ruled = decideByRules(rights.rules, (set) => set.findRead(server, read));
  if (read.hasTooManyForms && ruled.effect !== 'deny') return unsafeUri('too-many-forms');
  if (read.takesTooLong && ruled.effect !== 'deny') return unsafeUri('too-much-work');
  return rights.gateOf(server)?.shut ?? stricter(ruled, rights.clientsOf(server)(subject));
}

function problemOf(subject: string, origin: ReadToDecide['origin']): UriProblem | undefined {
  if (origin !== undefined && typeof origin !== 'function') return origin.problem;
  return subject.startsWith(resourcePrefix) ? uriProblem(subject) : undefined;
}

const tooLong: Decision = { effect: 'deny', reason: { kind: 'too-long', limit: maxUriLength } };

function unsafeUri(problem: UriProblem): Decision {
  return { effect: 'deny', reason: { kind: 'unsafe-uri', problem } };
}
