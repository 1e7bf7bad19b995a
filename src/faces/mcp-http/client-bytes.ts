import { ByteBudget } from '../../base/index.ts';
import type { AnswerBudget } from '../../domain/index.ts';

/** How many bytes the hub holds for clients. Small messages are not counted: the number of connections limits them. */
export interface ByteLimits {
  /** Answers that the clients of one agent have not read yet. */
  readonly answersPerAgent: number;
  /** The same for all agents together. */
  readonly answers: number;
  /** Request bodies of one agent that have not arrived in full. */
  readonly bodiesPerAgent: number;
  /** The same for all agents together. */
  readonly bodies: number;
}

const mebibyte = 1024 * 1024;

const byteLimits: ByteLimits = {
  answersPerAgent: 64 * mebibyte,
  answers: 256 * mebibyte,
  bodiesPerAgent: 32 * mebibyte,
  bodies: 128 * mebibyte,
};

/** Answers and bodies up to this size are not counted. */
export const uncountedBytes = 64 * 1024;

/** The bytes held for the clients of one agent, whatever tokens they have. */
export interface ClientBytes {
  readonly answers: ClientBudget;
  readonly bodies: ClientBudget;
}

/** One agent's part of a budget that all share. */
export class ClientBudget extends ByteBudget implements AnswerBudget {
  readonly #all: ByteBudget;
  #reserved = 0;

  constructor(limit: number, all: ByteBudget) {
    // Enough for a few large messages, whatever other agents hold.
    super(limit, all, Math.floor(limit / 16));
    this.#all = all;
  }

  /** `before` is already held for the same message; one that is alone fits whatever its size: other limits decide on that. */
  fits(bytes: number, before = 0): boolean {
    const own = this.used === before || this.used + bytes <= this.limit;
    return own && (this.#all.used === before || this.leavesRoom(bytes));
  }

  /** See `AnswerBudget`. The result is written, and counts by itself, before the next turn of the event loop. */
  reserve(bytes: number): boolean {
    if (!this.fits(bytes)) return false;
    this.add(bytes);
    this.#reserved += bytes;
    setImmediate(() => {
      this.#reserved -= bytes;
      this.release(bytes);
    });
    return true;
  }

  /** The same as `fits` for the answer to a call, which may have its room already. */
  fitsResult(bytes: number): boolean {
    return bytes <= this.#reserved + uncountedBytes || this.fits(bytes);
  }
}

export interface ClientBudgets {
  /** The same for all tokens of an agent, which have the same account. */
  of(account: object): ClientBytes;
}

export function createClientBudgets(limits: ByteLimits = byteLimits): ClientBudgets {
  const answers = new ByteBudget(limits.answers);
  const bodies = new ByteBudget(limits.bodies);
  const agents = new WeakMap<object, ClientBytes>();
  return {
    of(account) {
      const known = agents.get(account);
      if (known !== undefined) return known;
      const bytes = {
        answers: new ClientBudget(limits.answersPerAgent, answers),
        bodies: new ClientBudget(limits.bodiesPerAgent, bodies),
      };
      agents.set(account, bytes);
      return bytes;
    },
  };
}
