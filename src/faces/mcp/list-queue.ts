/**
 * Lists of one connection, made one after the other: a few bytes ask for a list, and a chunk of input can hold hundreds of
 * such requests. The next list is made when the one before has been sent and most of it read. Calls do not wait for lists.
 */
export class ListQueue {
  readonly #whenRead: () => Promise<void> | undefined;
  #last: Promise<unknown> | undefined;

  constructor(whenRead: () => Promise<void> | undefined) {
    this.#whenRead = whenRead;
  }

  /** A list that is alone is made at once. */
  answer<T>(make: () => Promise<T>): Promise<T> {
    const answer = this.#last === undefined ? make() : this.#last.then(make);
    const turn = this.#after(answer);
    this.#last = turn;
    void turn.then(() => {
      if (this.#last === turn) this.#last = undefined;
    });
    return answer;
  }

  async #after(answer: Promise<unknown>): Promise<void> {
    await answer.catch(() => {});
    // The answer is sent in this turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    await this.#whenRead();
  }
}
