/** How much of a line that is not read is kept: enough for the id of its message, which stands first or last. */
const keptBytes = 128;

/** A line that is too long to be read. Its end is looked for, and the first and the last bytes are kept. */
export class SkippedLine {
  readonly #head: string;
  #tail: Buffer;
  #size: number;

  constructor(start: Buffer) {
    this.#head = start.toString('latin1', 0, keptBytes);
    this.#tail = Buffer.from(start.subarray(-keptBytes));
    this.#size = start.length;
  }

  get size(): number {
    return this.#size;
  }

  add(piece: Buffer): void {
    this.#size += piece.length;
    const tail = piece.length >= keptBytes ? piece : Buffer.concat([this.#tail, piece]);
    this.#tail = Buffer.from(tail.subarray(-keptBytes));
  }

  /** The id of the request that it answers, where a server writes results as nearly all do. */
  get answeredId(): number | undefined {
    return idIn(this.#head, this.#tail.toString('latin1'));
  }
}

/** The same of a text that cannot be read. */
export function findAnsweredId(text: string): number | undefined {
  return idIn(text.slice(0, keptBytes), text.slice(-keptBytes));
}

function idIn(head: string, tail: string): number | undefined {
  const found = idFirst.exec(head) ?? idLast.exec(tail);
  return found === null ? undefined : Number(found[1]);
}

const idFirst = /^\{"jsonrpc":"2\.0","id":(\d{1,15}),"(?:result|error)":/;
const idLast = /\},"jsonrpc":"2\.0","id":(\d{1,15})\}\s*$/;
