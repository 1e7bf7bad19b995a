import type { Link } from './link.ts';

/** A connection without a server; what the test does not script must not be asked of it. */
export function scriptedLink(parts: Partial<Link>): Link {
  return {
    transport: 'stdio',
    era: 'legacy',
    protocolVersion: '2025-11-25',
    sessionId: null,
    queuedBytes: 0,
    proven: true,
    lane: undefined,
    tellsApart: false,
    log: undefined,
    notify() {},
    send: unscripted,
    watch: unscripted,
    unwatch() {},
    discover: async () => ({ kind: 'failed', reason: 'not scripted', failure: undefined }),
    close: async () => {},
    ...parts,
  };
}

function unscripted(): never {
  throw new Error('not scripted');
}
