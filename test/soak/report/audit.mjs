import { readFileSync } from 'node:fs';

const repeatable = new Set(['echo', 'lookup']);

/**
 * Compares what the servers executed with what the audit log says and with what clients were told. Gives counts and
 * what is wrong.
 */
export function compareWithAuditLog({ executedFile, callLines, ledger }) {
  const records = recordsByNonce(callLines);
  const runs = executedByNonce(executedFile);
  const counts = { executed: 0, recorded: callLines.length, unrecorded: 0, twice: 0, deniedExecuted: 0, disagree: 0 };
  const problems = [];
  const report = (count, words) => {
    counts[count]++;
    problems.push(`${count}: ${words}`);
  };

  for (const [nonce, executed] of runs) {
    counts.executed += executed.length;
    const [{ server, tool }] = executed;
    if (nonce.startsWith('key-')) continue; // Asked by many, with the same arguments.
    const mine = (records.get(nonce) ?? []).filter((record) => record.server === server && record.tool === tool);
    if (mine.length === 0) report('unrecorded', `${server}.${tool} ${nonce}`);
    // A question to the client ends a round, and each round has a record.
    const ends = mine.filter(({ outcome }) => outcome !== 'input_required');
    if (ends.length > 1) report('twice', `${server}.${tool} ${nonce} has ${ends.length} records`);
    const most = repeatable.has(tool) ? 2 : 1;
    if (executed.length > most) report('twice', `${server}.${tool} ${nonce} ran ${executed.length} times`);
  }
  for (const [nonce, { server, tool, decisions, outcome, kind, actor }] of ledger) {
    if (kind === 'cached') continue;
    const ran = runs.has(nonce);
    if (ran && !decisions.has('allow')) report('deniedExecuted', `${server}.${tool} ${nonce}`);
    if (ran && isRefusal(outcome)) report('deniedExecuted', `${server}.${tool} ${nonce}, and the client was refused`);
    if (outcome.kind !== 'result') continue;
    const outcomes = (records.get(nonce) ?? []).map((record) => record.outcome);
    // A process that was killed may have answered before it wrote down the end.
    const isKilled = actor.client.kind === 'stdio' && actor.doomed && outcomes.includes('interrupted');
    const isHeld = decisions.has('ask') && outcomes.includes('pending');
    if (!outcomes.includes('ok') && !isKilled && !isHeld)
      report('disagree', `${server}.${tool} ${nonce} answered, recorded ${outcomes.join()}`);
  }
  return { counts, problems };
}

function isRefusal({ kind, name, code, status }) {
  if (kind === 'http') return status === 401 || status === 408;
  return kind === 'error' && (name === 'TOOL_UNKNOWN' || name === 'APPROVAL_REQUIRED' || code === -31007);
}

function executedByNonce(file) {
  const runs = new Map();
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line === '') continue;
    const executed = JSON.parse(line);
    runs.set(executed.nonce, [...(runs.get(executed.nonce) ?? []), executed]);
  }
  return runs;
}

function recordsByNonce(lines) {
  const records = new Map();
  for (const line of lines) {
    // Long arguments may be cut, so the line itself is searched.
    const nonce = /nonce\\*":\\*"([\w-]+)/.exec(line)?.[1];
    if (nonce === undefined) continue;
    const { server, tool, outcome, status } = JSON.parse(line);
    records.set(nonce, [...(records.get(nonce) ?? []), { server, tool, outcome, status }]);
  }
  return records;
}
