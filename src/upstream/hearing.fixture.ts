import { notOffered } from '../mcp/index.ts';
import type { Hearing } from './wire.ts';

/** Somebody who listens; what the test does not care about is dropped. */
export function hearing(parts: Partial<Hearing>): Hearing {
  return {
    owner: parts,
    wantsProgress: parts.progress !== undefined,
    progress() {},
    log() {},
    ask: () => Promise.resolve(notOffered()),
    ...parts,
  };
}
