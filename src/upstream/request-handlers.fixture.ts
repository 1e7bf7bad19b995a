import { notSupported } from '../mcp/index.ts';
import type { RequestHandlers } from './transport.ts';

/** Handlers of which the test overrides some. The others do nothing. */
export function handlers(parts: Partial<RequestHandlers>): RequestHandlers {
  return {
    owner: parts,
    wantsProgress: parts.progress !== undefined,
    progress() {},
    log() {},
    ask: () => Promise.resolve(notSupported()),
    ...parts,
  };
}
