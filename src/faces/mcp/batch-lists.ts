import { HubError } from '../../base/index.ts';
import { errorReply } from '../../mcp/index.ts';

const maxListLength = 4 * 1024 * 1024;

/**
 * The lists in the answer to one batch. A few bytes can ask for many lists, so they are made one after the other, and none
 * is made beyond the limit; the first always fits.
 */
export class BatchLists {
  #length = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** The answer, or an error in its place. */
  answer<Text extends string | undefined>(idText: string, make: () => Promise<Text>): Promise<Text | string> {
    const answer = this.#last.then(() => this.#next(idText, make));
    this.#last = answer.catch(() => {});
    return answer;
  }

  async #next<Text extends string | undefined>(idText: string, make: () => Promise<Text>): Promise<Text | string> {
    if (this.#length >= maxListLength) return errorReply(idText, tooManyLists());
    const before = this.#length;
    const text = await make();
    this.#length += text?.length ?? 0;
    return before === 0 || this.#length <= maxListLength ? text : errorReply(idText, tooManyLists());
  }
}

function tooManyLists(): HubError {
  return new HubError('OVERLOADED', `The lists in one batch are over ${maxListLength} bytes.`, {
    hint: 'Ask for each list in a request of its own.',
  });
}
