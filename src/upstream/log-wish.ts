import { logLevels } from '../mcp/index.ts';

/** How much of its log a legacy server writes: as much as the most curious of those who share the connection wants. */
export interface LogWish {
  /** Resolves when the server knows, or will not know. Never rejects. */
  want(level: string): Promise<void>;
}

export function createLogWish(setLevel: (level: string) => Promise<unknown>): LogWish {
  let lowest = Number.POSITIVE_INFINITY;
  let told: Promise<void> = Promise.resolve();
  return {
    want(level) {
      const rank = logLevels.indexOf(level);
      if (rank >= 0 && rank < lowest) {
        lowest = rank;
        told = setLevel(level).then(() => {});
      }
      return told;
    },
  };
}
