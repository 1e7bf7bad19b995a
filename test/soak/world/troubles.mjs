import { servers } from './servers.mjs';

const whileAway = ['UPSTREAM_UNAVAILABLE', 'UPSTREAM_LOST', 'UPSTREAM_TIMEOUT', 'UPSTREAM_FAILED'];

/** What was done to servers, so that an error can be told from a defect; and how long they took to recover. */
export function createTroubles() {
  const spans = [];
  const open = new Map();
  const recoveries = new Map();

  return {
    recoveries,
    /** Something happens to a server from now on; what this returns says that it is over. */
    begin(server, what, recoveryMs) {
      const span = { server, what, from: performance.now(), to: Number.POSITIVE_INFINITY };
      spans.push(span);
      return () => {
        const now = performance.now();
        span.to = now + recoveryMs;
        open.set(server, { what, since: now });
      };
    },
    /** A call to the server that began then has succeeded. */
    succeeded(server, began) {
      const trouble = open.get(server);
      if (trouble === undefined || began < trouble.since) return;
      open.delete(server);
      const list = recoveries.get(trouble.what) ?? [];
      list.push(performance.now() - trouble.since);
      recoveries.set(trouble.what, list);
    },
    isTroubled: (server, from, to) =>
      spans.some((span) => span.server === server && span.from <= to && span.to >= from),
    /** Codes that a call to this server may end with, for its nature or for what was done to it. */
    permits(server, code, from, to) {
      if (servers[server]?.fails?.includes(code)) return true;
      return whileAway.includes(code) && this.isTroubled(server, from, to);
    },
  };
}
