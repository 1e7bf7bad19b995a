import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CallLine } from '../../../src/ledger/index.ts';

/** Writes calls into a run file, as a hub that is gone has left them. */
export function writeCalls(workspace: string, run: string, ...calls: Partial<CallLine>[]): void {
  const file = runFileOf(workspace, run);
  mkdirSync(dirname(file), { recursive: true });
  const lines = calls.map((call, index) => `${JSON.stringify(callLine(run, index, call))}\n`);
  appendFileSync(file, lines.join(''));
}

export function runFileOf(workspace: string, run: string): string {
  return join(workspace, '.runs', 'agents', run, 'mcp_calls.jsonl');
}

function callLine(run: string, index: number, call: Partial<CallLine>): CallLine {
  const outcome = call.outcome ?? 'ok';
  const sent = outcome === 'ok' || outcome === 'tool_error';
  return {
    ts: new Date(Date.UTC(2026, 10, 1, 12) + index * 1000).toISOString(),
    server: 'files',
    tool: 'read_file',
    args: {},
    status: outcome === 'ok' ? 'ok' : 'error',
    outcome,
    duration_ms: 1.5,
    error: outcome === 'ok' ? null : 'It did not go well.',
    agent: 'tester',
    call_id: `${run}-${index}`,
    run_id: run,
    transport: sent ? 'stdio' : null,
    protocol_version: sent ? '2025-11-25' : null,
    session_id: null,
    http_status: null,
    retries: sent ? 0 : null,
    decision: 'allow',
    ...call,
  };
}
