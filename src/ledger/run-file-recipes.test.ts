import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSilentLogger, createSystemClock, systemRandom } from '../base/index.ts';
import type { Outcome } from '../domain/index.ts';
import { type CallLine, ledgerConnection, ledgerSubject, openLedger, readCalls } from './index.ts';

/** The recipes people run on a run file, each with the same question in TypeScript; they must agree. */
const recipes: readonly { name: string; shell: string; answer: (calls: readonly CallLine[]) => unknown }[] = [
  {
    name: 'count calls per server',
    shell: `jq -r '.server' | sort | uniq -c | awk '{print $2"="$1}'`,
    answer: (calls) => countByServer(calls),
  },
  {
    name: 'find failed calls',
    shell: `jq -c 'select(.status != "ok")' | jq -r .call_id`,
    answer: (calls) => idsOf(calls.filter((call) => call.status !== 'ok')),
  },
  {
    name: 'average latency per tool',
    shell: `jq -r '"\\(.tool) \\(.duration_ms)"' | awk '{sum[$1]+=$2; count[$1]++} END {for (tool in sum) print tool, sum[tool]/count[tool]}' | sort`,
    answer: () => ['delete_all 0.5', 'read_file 2', 'write_file 1.625'],
  },
  {
    name: 'rate limit errors by server',
    shell: `jq 'select(.status == "error" and (.error | contains("rate limit")))' | jq -r '.server' | sort | uniq -c | awk '{print $2"="$1}'`,
    answer: (calls) => countByServer(calls.filter((call) => call.error?.includes('rate limit') === true)),
  },
  {
    name: 'suspicious file access',
    shell: `jq -c 'select(.server == "filesystem" and (.args.path | contains("..")))' | jq -r .call_id`,
    answer: (calls) => idsOf(calls.filter((call) => JSON.stringify(call.args).includes('..'))),
  },
  {
    name: 'privileged operations',
    shell: `jq -c 'select(.tool | test("write|delete|execute"))' | jq -r .call_id`,
    answer: (calls) => idsOf(calls.filter((call) => /write|delete|execute/.test(call.tool))),
  },
];

let workspace: string;

beforeAll(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'qm-recipes-'));
  const same = (text: string): string => text;
  const ledger = await openLedger(
    {
      clock: createSystemClock(),
      logger: createSilentLogger(),
      random: systemRandom,
      redact: { json: same, message: same },
    },
    { workspace, sync: 'os' },
  );
  const connection = ledgerConnection({ transport: 'stdio', protocolVersion: '2025-11-25', sessionId: null });
  for (const [tool, path, outcome, durationMs] of calls()) {
    const facts = {
      agent: 'a',
      chain: ['a'],
      server: outcome === 'unknown_tool' ? null : 'filesystem',
      tool,
      decision: 'allow',
    };
    const call = ledger.open(ledgerSubject(facts), 'run', `{"path":"${path}","big":12345678901234567890}`);
    if (outcome === 'ok' || outcome === 'tool_error') await ledger.sent(call, connection);
    ledger.done(call, { outcome, durationMs });
  }
  await ledger.close();
});

afterAll(() => rm(workspace, { recursive: true }));

test.each(recipes)('recipe: $name', async ({ shell, answer }) => {
  const expected = answer(await readCalls(workspace, { run: 'run' }));
  expect(expected).not.toEqual([]);
  if (!hasJq()) return;
  const shown = execFileSync('sh', ['-c', `cat .runs/agents/run/mcp_calls.jsonl | ${shell}`], {
    cwd: workspace,
    encoding: 'utf8',
  });
  expect(shown.trimEnd().split('\n')).toEqual(expected);
});

function calls(): [string, string, Outcome, number][] {
  return [
    ['read_file', 'README.md', 'ok', 4],
    ['read_file', '../secret', 'denied', 0],
    ['write_file', 'a', 'ok', 1.25],
    ['write_file', 'b', 'rate_limited', 2],
    ['read_file', 'c', 'throttled', 2],
    ['write_file', 'd', 'tool_error', 1.625],
    ['delete_all', 'e', 'unknown_tool', 0.5],
  ];
}

function hasJq(): boolean {
  try {
    execFileSync('jq', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function countByServer(calls: readonly CallLine[]): string[] {
  const servers = [...new Set(calls.map((call) => call.server))].sort();
  return servers.map((server) => `${server}=${calls.filter((call) => call.server === server).length}`);
}

function idsOf(calls: readonly CallLine[]): string[] {
  return calls.map((call) => call.call_id);
}
