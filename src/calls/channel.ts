import type { Askable, Question, QuestionAnswer } from '../mcp/index.ts';

/**
 * The way back to the caller while a call is under way. Whoever started the call attaches one; it
 * may detach and another may attach, the call goes on regardless. What is undefined the caller does
 * not want or cannot do.
 */
export interface CallerChannel {
  readonly progress?: ((params: Readonly<Record<string, unknown>>) => void) | undefined;
  readonly log?: LogChannel | undefined;
  /** Never rejects. */
  readonly ask?: ((question: Question) => Promise<QuestionAnswer>) | undefined;
}

export interface LogChannel {
  /** What the caller asked for; undefined: whatever the server thinks fit. */
  readonly level: string | undefined;
  send(params: Readonly<Record<string, unknown>>): void;
}

/** The program behind a call. */
export interface CallClient {
  /** Whoever proved itself: the same for all of a token's requests. */
  readonly principal: string;
  /** Undefined for a client whose requests belong to no session. */
  readonly session: string | undefined;
  readonly askable: Askable;
  /** Questions may be its answer: it comes again with what it was asked for. */
  readonly takesRounds: boolean;
  /** A task may be its answer: it asks for the result later. Absent: no. */
  readonly takesTasks?: boolean;
}
