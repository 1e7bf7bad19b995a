/** Who is calling, proved anew with each request. */
export interface Caller {
  readonly agent: string;
  /** The agent and those that delegated to it, nearest first; rights are the intersection of all. */
  readonly chain: readonly string[];
  /** Absent for the local operator (command line, library). */
  readonly tokenId: string | undefined;
  readonly run: string;
}

/** Run ids name a folder; the pattern keeps them there. */
export const runIdPattern: RegExp = /^[A-Za-z0-9_-]{1,64}$/;
