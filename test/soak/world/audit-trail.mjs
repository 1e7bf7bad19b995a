import { createReadStream, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** Retention looks once a minute, and removes what is over a gigabyte. */
const exportMs = 30_000;

/**
 * The whole audit log of a run: `qm calls` has only what retention keeps, so it is exported again and again, each time
 * from where the last export ended.
 */
export function createAuditTrail({ hub, workspace }) {
  const [file, cursor] = [`${workspace.folder}.audit.jsonl`, `${workspace.folder}.audit-cursor.json`];
  let running = Promise.resolve();
  let failure;
  const exportOnce = () => {
    running = running
      .then(() => hub.qm('ledger', 'export', '--to', file, '--cursor', cursor))
      .catch((error) => {
        failure = error;
      });
    return running;
  };
  const timer = setInterval(exportOnce, exportMs).unref();
  return {
    /** One line for each ended call. Throws if an export failed: some calls would be missing. */
    async callLines() {
      clearInterval(timer);
      await exportOnce();
      if (failure !== undefined) throw failure;
      return existsSync(file) ? await callsIn(file) : [];
    },
  };
}

/** Joins the records of each call. Their own text stays as it is: the nonce is searched in it. */
async function callsIn(file) {
  const starts = new Map();
  const calls = [];
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    const [, kind, id] = /^\{"k":"(\w+)","ts":"[^"]*","id":"([^"]+)"/.exec(line) ?? [];
    if (kind === 'sent' || kind === 'held') starts.set(id, line);
    else if (kind === 'refused' || kind === 'cached') {
      starts.delete(id);
      calls.push(line);
    } else if (kind === 'done' && starts.has(id)) {
      // A call that was sent has no outcome before its end.
      const { outcome } = JSON.parse(line);
      calls.push(`${starts.get(id).slice(0, -1)},"outcome":"${outcome}"}`);
      starts.delete(id);
    }
  }
  return calls;
}
