/**
 * Tracks objects that come and go with every call, in place of a Map or a Set. V8 gives a Map a new table every few
 * dozen changes, and each abandoned table points to the next one. Once one of them is in the old generation, all later
 * tables and their contents stay alive until a full collection: every call would outlive its end and cost several times
 * its share of garbage collection. A member that left a list points to nothing, and adding and deleting allocate
 * nothing.
 */
export class LinkedList<T extends Linked<T>> {
  #first: T | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds the member at the front. */
  add(member: T): void {
    if (member.list !== undefined) throw new Error('It is on a list already.');
    member.list = this;
    member.after = this.#first;
    if (this.#first !== undefined) this.#first.before = member;
    this.#first = member;
    this.#size++;
  }

  /** False if the member is not on this list. */
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

  /** The newest member that passes the test. */
  find(test: (member: T) => boolean): T | undefined {
    let member = this.#first;
    while (member !== undefined && !test(member)) member = member.after;
    return member;
  }

  /** Iterates over a snapshot, newest first. Members may leave during the iteration. */
  [Symbol.iterator](): Iterator<T> {
    const members: T[] = [];
    for (let member = this.#first; member !== undefined; member = member.after) members.push(member);
    return members.values();
  }
}

/** The fields that a list keeps on its members. All are undefined while the member is on no list. */
export interface Linked<T extends Linked<T>> {
  list: LinkedList<T> | undefined;
  before: T | undefined;
  after: T | undefined;
}
