import type { Decision } from '../../domain/index.ts';
import type { AccessGate } from './access-gate.ts';
import type { PathGuard } from './paths/path-guard.ts';
import type { ChainRules } from './rules/decide-by-rules.ts';
import type { ToolClassesOf } from './tool-class.ts';
import type { CompiledFilter } from './tool-filter.ts';

/** The compiled settings that apply to one chain of agents. */
export interface ChainRights {
  /** The first agent of the chain without a route to the server. Undefined if all have one. */
  blockedAt(server: string): string | undefined;
  filtersOf(server: string): readonly CompiledFilter[];
  gateOf(server: string): AccessGate | undefined;
  clientsOf(server: string): (subject: string) => Decision | undefined;
  /** The classes of the server's tools. */
  classesOf(server: string): ToolClassesOf;
  /** Undefined if the server is not configured. */
  pathsOf(server: string): PathGuard | undefined;
  readonly rules: ChainRules;
}

/** The first refusal. */
export function refusedBy(
  filters: readonly CompiledFilter[],
  refuse: (filter: CompiledFilter) => Decision | undefined,
): Decision | undefined {
  for (const filter of filters) {
    const refusal = refuse(filter);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** Deny beats ask, and ask beats allow. Of equals, the first is reported. */
export function stricter(decision: Decision, other: Decision | undefined): Decision {
  if (other === undefined || decision.effect === 'deny') return decision;
  return other.effect === 'deny' || decision.effect === 'allow' ? other : decision;
}

export function notRouted(agent: string): Decision {
  return { effect: 'deny', reason: { kind: 'not-routed', agent } };
}
