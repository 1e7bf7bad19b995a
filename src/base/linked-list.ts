/**
 * For what comes and goes with every call, in place of a Map or a Set. V8 gives a Map a new table every few dozen
 * changes, and each table it gave up points to the next one. Once one of them has grown old, all that follow are kept
 * with all that was in them, until a full collection: every call would outlive its end, and cost several times its
 * share of collecting. Members of a list that have left point to nothing, and entering and leaving allocate nothing.
 */
export class LinkedList<T extends Linked<T>> {
  #first: T | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** In front of the others. */
  add(member: T): void {
    if (member.list !== undefined) throw new Error('It is on a list already.');
    member.list = this;
    member.after = this.#first;
    if (this.#first !== undefined) this.#first.before = member;
    this.#first = member;
    this.#size++;
  }

  /** False for what is not on this list. */
  delete(member: T): boolean {
    if (member.list !== this) return false;
    const { before, after } = member;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after !== undefined) after.before = before;
    member.list = undefined;
    member.before = undefined;
    member.after = undefined;
    this.#size--;
    return true;
  }

  /** The newest that the test holds for. */
  find(test: (member: T) => boolean): T | undefined {
    let member = this.#first;
    while (member !== undefined && !test(member)) member = member.after;
    return member;
  }

  /** As they are now, the newest first; they may leave meanwhile. */
  [Symbol.iterator](): Iterator<T> {
    const members: T[] = [];
    for (let member = this.#first; member !== undefined; member = member.after) members.push(member);
    return members.values();
  }
}

/** What a member keeps for its list; all undefined while it is on none. */
export interface Linked<T extends Linked<T>> {
  list: LinkedList<T> | undefined;
  before: T | undefined;
  after: T | undefined;
}
