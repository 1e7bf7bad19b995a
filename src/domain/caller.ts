import type { AgentAccount } from '../base/index.ts';

/** The caller of a request, authenticated on every request. */
export interface Caller {
  readonly agent: string;
  /** Whose servers and rules count; `workspace` for the files of the workspace. */
  readonly project: string;
  /** The agent and the agents that delegated to it, nearest first. Its rights are the intersection of all of theirs. */
  readonly chain: readonly string[];
  /** Undefined for the local operator (command line, library). */
  readonly tokenId: string | undefined;
  readonly run: string;
  /** The caller named no run, so the hub gave it one until the hub ends. */
  readonly runOfHub?: true;
  /**
   * The run of its token and of each token that delegated to it, nearest first: `run:ID`, or `token:ID` for a token that
   * has no run of its own. Undefined for the local operator.
   */
  readonly runKeys?: readonly string[] | undefined;
  /** Where its share of the hub is counted. */
  readonly account?: AgentAccount | undefined;
  /** Where large answers count until its clients have read them. */
  readonly answers?: AnswerBudget | undefined;
}

export interface AnswerBudget {
  /**
   * Takes room for a result that is about to be recorded and answered. False if there is none: the record then says that
   * the result was dropped.
   */
  reserve(bytes: number): boolean;
}

/** A run id names a folder. The pattern rules out path traversal. */
export const runIdPattern: RegExp = /^[A-Za-z0-9_-]{1,64}$/;
