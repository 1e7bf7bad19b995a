/**
 * A set of call ids, `<life>-<number>`, in a few bits each: the numbers of a life are dense, and a journal may have
 * millions of them.
 */
export class CallIds {
  readonly #lives = new Map<string, Map<number, Uint32Array>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(id: string): boolean {
    const { life, block, word, bit } = placeOf(id);
    return ((this.#lives.get(life)?.get(block)?.[word] ?? 0) & bit) !== 0;
  }

  add(id: string): void {
    const { life, block, word, bit } = placeOf(id);
    let blocks = this.#lives.get(life);
    if (blocks === undefined) {
      blocks = new Map();
      // A copy: a slice would keep the text of the whole chunk in memory.
      this.#lives.set(Buffer.from(life, 'utf8').toString('utf8'), blocks);
    }
    let words = blocks.get(block);
    if (words === undefined) {
      words = new Uint32Array(wordsPerBlock);
      blocks.set(block, words);
    }
    const before = words[word] ?? 0;
    if ((before & bit) !== 0) return;
    words[word] = before | bit;
    this.#size++;
  }
}

const bitsPerWord = 32;
const wordsPerBlock = 8;

function placeOf(id: string): {
  readonly life: string;
  readonly block: number;
  readonly word: number;
  readonly bit: number;
} {
  const dash = id.lastIndexOf('-');
  const number = Number(id.slice(dash + 1));
  // An id of another form, as only a forged line has it, is a life of its own.
  if (!Number.isSafeInteger(number) || number < 0) return { life: id, block: 0, word: 0, bit: 1 };
  const index = Math.floor(number / bitsPerWord);
  return {
    life: id.slice(0, dash),
    block: Math.floor(index / wordsPerBlock),
    word: index % wordsPerBlock,
    bit: 1 << (number % bitsPerWord),
  };
}
