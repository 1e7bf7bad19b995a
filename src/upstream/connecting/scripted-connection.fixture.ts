import type { Connection } from './connection.ts';

/** A connection without a server. The test must script everything that it uses. */
export function scriptedConnection(parts: Partial<Connection>): Connection {
  return {
    transport: 'stdio',
    era: 'legacy',
    protocolVersion: '2025-11-25',
    sessionId: null,
    about: { serverInfo: undefined, instructions: undefined, capabilities: {} },
    queuedBytes: 0,
    proven: true,
    exclusiveAccess: undefined,
    canAttributeMessages: false,
    log: undefined,
    notify() {},
    send: unscripted,
    subscribe: unscripted,
    unsubscribe() {},
    discover: async () => ({ kind: 'failed', reason: 'not scripted', failure: undefined }),
    close: async () => {},
    ...parts,
  };
}

function unscripted(): never {
  throw new Error('not scripted');
}
