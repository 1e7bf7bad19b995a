import { ruleOf, ruleSourceOf } from '../../../domain/index.ts';
import type { CallLine } from '../../../ledger/index.ts';
import type { ReplayedDecision, UnknownReason } from './judge-recorded.ts';

/** Calls of one agent to one tool that another policy decides alike, but differently from what was recorded. */
export interface ReplayedChange {
  readonly agent: string;
  readonly server: string | null;
  readonly tool: string;
  readonly before: string;
  readonly after: string;
  readonly calls: number;
  readonly rule: string | null;
  readonly rule_source: string | null;
  /** The first of them. */
  readonly call_id: string;
}

/** Calls of one agent to one tool that cannot be decided again. */
export interface ReplayedUnknown extends Pick<ReplayedChange, 'agent' | 'server' | 'tool' | 'calls' | 'call_id'> {
  readonly why: UnknownReason;
}

export interface ReplayReport {
  readonly calls: number;
  readonly same: number;
  readonly changed: number;
  readonly unknown: number;
  readonly undecided: number;
  /** Lines or records that are not calls. */
  readonly unreadable: number;
  readonly changes: readonly ReplayedChange[];
  readonly unknowns: readonly ReplayedUnknown[];
  /** Changed and unknown calls that are in none of the groups, because there are too many. */
  readonly more: number;
}

export interface Replay {
  /** Undefined: a line that is no call. */
  add(call: CallLine | undefined): void;
  report(): ReplayReport;
}

/** Nobody reads more, and callers can invent any number of names. */
const mostGroups = 1_000;

export function createReplay(judge: (call: CallLine) => ReplayedDecision): Replay {
  const counts = { calls: 0, same: 0, changed: 0, unknown: 0, undecided: 0, unreadable: 0 };
  const changes = createGroups<ReplayedChange>();
  const unknowns = createGroups<ReplayedUnknown>();
  return {
    add(call) {
      if (call === undefined) {
        counts.unreadable++;
        return;
      }
      counts.calls++;
      const replayed = judge(call);
      const { agent, server, tool, decision, call_id } = call;
      const who = { agent, server, tool, calls: 1, call_id };
      if (replayed.kind === 'undecided') counts.undecided++;
      else if (replayed.kind === 'unknown') {
        counts.unknown++;
        unknowns.add([agent, server, tool, replayed.why], { ...who, why: replayed.why });
      } else if (replayed.decision.effect === decision) counts.same++;
      else {
        counts.changed++;
        const [before, after] = [decision ?? '', replayed.decision.effect];
        const by = { rule: ruleOf(replayed.decision), rule_source: ruleSourceOf(replayed.decision) };
        changes.add([agent, server, tool, before, after, by], { ...who, before, after, ...by });
      }
    },
    report: () => ({
      ...counts,
      changes: changes.list(),
      unknowns: unknowns.list(),
      more: changes.left() + unknowns.left(),
    }),
  };
}

interface Groups<Group> {
  add(key: unknown, first: Group): void;
  /** Most calls first. */
  list(): readonly Group[];
  /** Calls that belong to no listed group. */
  left(): number;
}

function createGroups<Group extends { readonly calls: number }>(): Groups<Group> {
  const groups = new Map<string, Group>();
  let left = 0;
  return {
    add(key, first) {
      const text = JSON.stringify(key);
      const known = groups.get(text);
      if (known !== undefined) groups.set(text, { ...known, calls: known.calls + 1 });
      else if (groups.size < mostGroups) groups.set(text, first);
      else left++;
    },
    list: () => [...groups.values()].sort((a, b) => b.calls - a.calls),
    left: () => left,
  };
}
