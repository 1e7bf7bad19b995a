import type { Decision } from '../../domain/index.ts';
import { isDecidedLike, type SharedEntry, type SharedList } from './shared-list.ts';

export interface Decider<Entry extends SharedEntry> {
  decide(entry: Entry): Decision;
  /** Decisions of the same source are the same. */
  readonly source: unknown;
}

/** One agent's decisions on one list of a server, by index. Each is made on first use. */
export class ListDecisions<Entry extends SharedEntry> {
  readonly list: SharedList<Entry>;
  readonly #decider: Decider<Entry>;
  /** Empty until the first decision: most agents never look at most lists. */
  #decisions: (Decision | undefined)[];
  #sum: DigestSum | undefined;
  /** Entries that are not in the sum yet. */
  #unsummed: readonly number[] = [];

  /** Reuses the decisions of an earlier revision for unchanged entries. */
  constructor(list: SharedList<Entry>, decider: Decider<Entry>, earlier: ListDecisions<Entry> | undefined) {
    this.list = list;
    this.#decider = decider;
    this.#decisions = earlier === undefined ? [] : earlier.#carriedTo(list);
    this.#sum = earlier && this.#sumWithout(earlier);
    if (this.#sum !== undefined) this.#unsummed = list.before?.fresh ?? [];
  }

  get source(): unknown {
    return this.#decider.source;
  }

  at(index: number): Decision {
    const known = this.#decisions[index];
    if (known !== undefined) return known;
    const entry = this.list.entries[index];
    if (entry === undefined) throw new RangeError(`A list of server "${this.list.server}" has no entry ${index}.`);
    if (this.#decisions.length === 0) this.#decisions = new Array(this.list.entries.length);
    const decision = this.#decider.decide(entry);
    this.#decisions[index] = decision;
    return decision;
  }

  /** Undefined if it was not decided yet. */
  decided(index: number): Decision | undefined {
    return this.#decisions[index];
  }

  isVisible(index: number): boolean {
    return this.at(index).effect !== 'deny';
  }

  /** A digest of the visible entries and their list texts. Empty if none is visible. */
  get digest(): string {
    this.#sum = this.#summed(this.#sum ?? emptySum, this.#toSum());
    this.#unsummed = [];
    const { count, sum } = this.#sum;
    return count === 0 ? '' : `${count}.${sum}`;
  }

  /** Makes the decisions that the digest needs, so that many can be spread over turns of the loop. Yields after each. */
  *deciding(): Generator<number> {
    for (const index of this.#toSum()) {
      if (this.#decisions[index] !== undefined) continue;
      this.at(index);
      yield 1;
    }
  }

  #toSum(): Iterable<number> {
    return this.#sum === undefined ? this.list.entries.keys() : this.#unsummed;
  }

  #carriedTo({ before, entries }: SharedList<Entry>): (Decision | undefined)[] {
    const known = this.#decisions;
    if (known.length === 0) return [];
    const decisions = new Array<Decision | undefined>(entries.length);
    const isNext = before?.revision === this.list.revision;
    for (const [index, entry] of entries.entries()) {
      const decision = known[(isNext ? before.places[index] : this.#placeOf(entry)) ?? -1];
      if (decision !== undefined && !dependsOnList(decision)) decisions[index] = decision;
    }
    return decisions;
  }

  #placeOf(entry: Entry): number {
    const place = this.list.places.get(entry.own) ?? -1;
    return isDecidedLike(this.list.entries[place], entry) ? place : -1;
  }

  #summed(start: DigestSum, indexes: Iterable<number>): DigestSum {
    const { entries } = this.list;
    let { count, sum } = start;
    for (const index of indexes) {
      if (!this.isVisible(index)) continue;
      count++;
      sum = (sum + (entries[index]?.digest ?? 0)) % digestLimit;
    }
    return { count, sum };
  }

  /** The earlier sum without the entries that are gone, so that one more entry costs no more than that entry. */
  #sumWithout(earlier: ListDecisions<Entry>): DigestSum | undefined {
    const { before } = this.list;
    if (earlier.#sum === undefined || earlier.#unsummed.length > 0) return undefined;
    if (before?.revision !== earlier.list.revision) return undefined;
    if (earlier.#decisions.some((decision) => decision !== undefined && dependsOnList(decision))) return undefined;
    let { count, sum } = earlier.#sum;
    for (const place of before.gone) {
      if (!earlier.isVisible(place)) continue;
      count--;
      sum = (sum + digestLimit - (earlier.list.entries[place]?.digest ?? 0)) % digestLimit;
    }
    return { count, sum };
  }
}

/** Whether the rest of the list used up the work for it. In another list, the entry may be decided. */
export function dependsOnList({ reason }: Decision): boolean {
  return reason.kind === 'unsafe-uri' && reason.problem === 'too-much-work';
}

/** Over the visible entries, in any order. */
interface DigestSum {
  readonly count: number;
  readonly sum: number;
}

const emptySum: DigestSum = { count: 0, sum: 0 };
const digestLimit = 2 ** 52;

/** Far more than the rules of a workspace. */
const mostDecisions = 10_000;

/** Equal decisions share one object, so their number grows with the rules, not with entries times agents. */
export function createDecisionIntern(): (decision: Decision) => Decision {
  const byText = new Map<string, Decision>();
  const known = new WeakSet<Decision>();
  return (decision) => {
    // The text of a decision holds no functions: two that look alike may decide differently on arguments.
    if ((decision.condition ?? decision.shadow) !== undefined || known.has(decision)) return decision;
    const text = JSON.stringify(decision);
    const first = byText.get(text);
    if (first !== undefined || byText.size >= mostDecisions) return first ?? decision;
    byText.set(text, decision);
    known.add(decision);
    return decision;
  };
}
