import { servers } from './servers.mjs';

const whileAway = ['UPSTREAM_UNAVAILABLE', 'UPSTREAM_LOST', 'UPSTREAM_TIMEOUT', 'UPSTREAM_FAILED'];

/** A server that was removed is unknown; calls that it had not answered are lost with it. */
const whileRemoved = ['TOOL_UNKNOWN', 'RESOURCE_UNKNOWN', 'PROMPT_UNKNOWN', ...whileAway];
/** How long the hub may take to use a file that is whole again, and to start the servers in it. */
const takeUpMs = 10_000;

/** What was done to servers, so that an error can be told from a defect; and how long they took to recover. */
export function createTroubles() {
  const spans = [];
  const cuts = [];
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
    /**
     * A configuration file has lost its end from now on: servers in the rest of it are removed at once, as if somebody
     * had meant it. What this returns says that the file is whole again.
     */
    cut() {
      const span = { from: performance.now(), to: Number.POSITIVE_INFINITY };
      cuts.push(span);
      return () => {
        span.to = performance.now() + takeUpMs;
      };
    },
    isCut: (from, to) => cuts.some((span) => span.from <= to && span.to >= from),
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
    mayMissUpdates(server, from, to) {
      return this.isTroubled(server, from, to) || this.isCut(from, to);
    },
    /** Codes that a call to this server may end with, for its nature or for what was done to it. */
    permits(server, code, from, to) {
      if (servers[server]?.fails?.includes(code)) return true;
      if (whileRemoved.includes(code) && this.isCut(from, to)) return true;
      return whileAway.includes(code) && this.isTroubled(server, from, to);
    },
  };
}
