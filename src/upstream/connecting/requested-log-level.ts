import { logLevels } from '../../mcp/index.ts';

/** The log level of a legacy server: the most verbose one that a caller on the connection wants. */
export interface RequestedLogLevel {
  /** Resolves when the server has answered or failed. Never rejects. */
  want(level: string): Promise<void>;
}

export function createRequestedLogLevel(setLevel: (level: string) => Promise<unknown>): RequestedLogLevel {
  let lowest = Number.POSITIVE_INFINITY;
  let answered: Promise<void> = Promise.resolve();
  return {
    want(level) {
      const rank = logLevels.indexOf(level);
      if (rank >= 0 && rank < lowest) {
        lowest = rank;
        answered = setLevel(level).then(() => {});
      }
      return answered;
    },
  };
}
