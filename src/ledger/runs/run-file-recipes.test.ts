import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { need } from '../../../test/support/needed.ts';
import { createSilentLogger, createSystemClock, systemRandom } from '../../base/index.ts';
import type { Outcome } from '../../domain/index.ts';
import { type CallLine, ledgerConnection, ledgerSubject, openLedger, readCalls } from '../index.ts';
import { placesIn } from '../ledger-places.fixture.ts';

interface Recipe {
  readonly name: string;
  /** As people run it, after `cat mcp_calls.jsonl |`. */
  readonly shell: string;
  /** Makes its output comparable. */
  readonly tidy?: string;
  /** The same question in TypeScript; they must agree. */
  readonly answer: (calls: readonly CallLine[]) => readonly string[];
}

const counted = `awk '{print $2"="$1}'`;
const ids = 'jq -r .call_id';

/** What people already run on such files. */
const usual: readonly Recipe[] = [
  {
    name: 'count calls per server',
    shell: `jq -r '.server' | sort | uniq -c`,
    tidy: counted,
    answer: (calls) => countByServer(calls),
  },
  {
    name: 'find failed calls',
    shell: `jq 'select(.status != "ok")'`,
    tidy: ids,
    answer: (calls) => idsOf(calls.filter((call) => call.status !== 'ok')),
  },
  {
    name: 'average latency per tool',
    shell: `jq -r '"\\(.tool) \\(.duration_ms)"' | awk '{sum[$1]+=$2; count[$1]++} END {for (tool in sum) print tool, sum[tool]/count[tool]}'`,
    tidy: 'sort',
    // A duration that nobody knows counts as none here; the recipe of our own leaves it out.
    answer: (calls) => averages(calls),
  },
  {
    name: 'rate limit errors',
    shell: `jq 'select(.status == "error" and (.error | contains("rate limit")))'`,
    tidy: ids,
    answer: (calls) => idsOf(calls.filter(isRateLimit)),
  },
  {
    name: 'rate limit errors by server',
    shell: `jq 'select(.status == "error" and (.error | contains("rate limit")))' | jq -r '.server' | sort | uniq -c`,
    tidy: counted,
    answer: (calls) => countByServer(calls.filter(isRateLimit)),
  },
  {
    name: 'rate limit errors by their words',
    shell: 'cat > /dev/null; grep -r "rate limit" .runs/agents/run/',
    tidy: `sed 's/^[^{]*//' | ${ids}`,
    answer: (calls) => idsOf(calls.filter(isRateLimit)),
  },
  {
    name: 'privileged operations',
    shell: `jq 'select(.tool | test("write|delete|execute"))'`,
    tidy: ids,
    answer: (calls) => idsOf(calls.filter((call) => /write|delete|execute/.test(call.tool))),
  },
  {
    name: 'calls over a second',
    shell: `jq 'select(.duration_ms > 1000)'`,
    tidy: ids,
    answer: (calls) => idsOf(calls.filter((call) => (call.duration_ms ?? 0) > 1000)),
  },
  {
    name: 'slow tools',
    shell: `jq -r '"\\(.tool) \\(.duration_ms)"' | sort -k2 -n | tail -10`,
    tidy: 'tail -2',
    answer: () => ['git_diff 1000.5', 'read_file 1500'],
  },
];

/** Ours, in docs/ledger.md: these also work on calls without a path and without a duration. */
const ours: readonly Recipe[] = [
  {
    name: 'average latency per tool, of calls that reached their server',
    shell: `jq -r 'select(.transport != null and .duration_ms != null) | "\\(.tool) \\(.duration_ms)"' | awk '{sum[$1]+=$2; count[$1]++} END {for (tool in sum) print tool, sum[tool]/count[tool]}'`,
    tidy: 'sort',
    answer: (calls) => averages(calls.filter((call) => call.transport !== null && call.duration_ms !== null)),
  },
  {
    name: 'rate limit hits, by outcome',
    shell: `jq 'select(.outcome == "rate_limited" or .outcome == "throttled")'`,
    tidy: ids,
    answer: (calls) => idsOf(calls.filter(isRateLimit)),
  },
  {
    name: 'suspicious file access, by a path',
    shell: `jq 'select(.server == "filesystem" and ((.args.path? // "") | tostring | contains("..")))'`,
    tidy: ids,
    answer: (calls) =>
      idsOf(calls.filter((call) => call.server === 'filesystem' && JSON.stringify(call.args).includes('"path":"..'))),
  },
  {
    name: 'suspicious file access, by any text in the arguments',
    shell: `jq 'select([.args | .. | strings] | any(contains("..")))'`,
    tidy: ids,
    answer: (calls) => idsOf(calls.filter((call) => JSON.stringify(call.args).includes('..'))),
  },
  {
    name: 'errors by a word, in capitals or not',
    shell: `jq 'select((.error // "") | ascii_downcase | contains("rate limit"))'`,
    tidy: ids,
    answer: (calls) => idsOf(calls.filter(isRateLimit)),
  },
];

/** Fails on calls of that server without a path; those with one are still printed. */
const suspicious = `jq 'select(.server == "filesystem" and (.args.path | contains("..")))'`;

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
    { ...placesIn(workspace), sync: 'os' },
  );
  const connection = ledgerConnection({ transport: 'stdio', protocolVersion: '2025-11-25', sessionId: null });
  const add = async (run: string, [server, tool, args, outcome, durationMs, error]: Call): Promise<void> => {
    const subject = ledgerSubject({ agent: 'a', chain: ['a'], server, tool, decision: 'allow' });
    const call = ledger.open(subject, run, JSON.stringify(args));
    if (sentOutcomes.has(outcome)) await ledger.sent(call, connection);
    ledger.done(call, { outcome, durationMs, ...(error === undefined ? {} : { error }) });
  };
  for (const call of calls()) await add('run', call);
  // Every call of this one has a path, as the usual recipe for paths expects.
  for (const call of calls()) if ('path' in call[2]) await add('paths', call);
  await ledger.close();
});

afterAll(() => rm(workspace, { recursive: true }));

test.each([...usual, ...ours])('recipe: $name', async ({ shell, tidy = 'cat', answer }) => {
  const expected = answer(await readCalls(placesIn(workspace), { run: 'run' }));
  expect(expected).not.toEqual([]);
  need('jq');
  expect(cook('run', `${shell} | ${tidy}`)).toEqual({ lines: expected, complaints: '' });
});

test('the usual recipe for suspicious paths works where every call has a path; without one it complains and ours does not', async () => {
  const expected = async (run: string): Promise<string[]> =>
    idsOf(
      (await readCalls(placesIn(workspace), { run })).filter((call) =>
        JSON.stringify(call.args).includes('"path":"..'),
      ),
    );
  expect(await expected('paths')).toHaveLength(1);
  need('jq');
  expect(cook('paths', `${suspicious} | ${ids}`)).toEqual({ lines: await expected('paths'), complaints: '' });
  const onAll = cook('run', `${suspicious} | ${ids}`);
  expect(onAll.complaints).toContain('null');
  expect(onAll.lines).toEqual(await expected('run'));
});

test('our recipes are the ones in docs/ledger.md, and the usual ones are there too', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/ledger.md'), 'utf8').replaceAll(/ \\\n\s*/g, ' ');
  for (const { shell } of ours) expect(page).toContain(shell);
  for (const { shell } of usual)
    expect(page).toContain(shell.replace('cat > /dev/null; ', '').replace('/run/', '/$RUN/'));
});

test('a line has these members in this order', () => {
  const [first = ''] = readFileSync(join(workspace, '.runs/agents/run/mcp_calls.jsonl'), 'utf8').split('\n');
  expect(Object.keys(JSON.parse(first) as object)).toEqual([
    'ts',
    'server',
    'tool',
    'args',
    'status',
    'outcome',
    'duration_ms',
    'error',
    'agent',
    'call_id',
    'run_id',
    'transport',
    'protocol_version',
    'session_id',
    'http_status',
    'retries',
    'decision',
    'rule',
    'rule_source',
  ]);
  const page = readFileSync(join(import.meta.dirname, '../../../docs/ledger.md'), 'utf8');
  const documented = [...page.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]);
  const always = Object.keys(JSON.parse(first) as object);
  const sometimes = always
    .concat('labels')
    .toSpliced(14, 0, 'cached')
    .toSpliced(9, 0, 'chain')
    .toSpliced(3, 0, 'method');
  expect(documented.slice(0, 23)).toEqual(sometimes);
});

type Call = [server: string | null, tool: string, args: object, outcome: Outcome, ms: number, error?: string];

const sentOutcomes: ReadonlySet<Outcome> = new Set(['ok', 'tool_error', 'throttled', 'interrupted']);

function calls(): Call[] {
  return [
    ['filesystem', 'read_file', { path: 'README.md', big: 2 ** 53 }, 'ok', 4],
    ['filesystem', 'read_file', { path: '../secret' }, 'denied', 0],
    ['filesystem', 'write_file', { path: 'a' }, 'ok', 1.25],
    ['filesystem', 'write_file', { path: 'b' }, 'rate_limited', 2],
    ['filesystem', 'list_roots', {}, 'ok', 1],
    ['memory', 'query_entities', { type: 'user' }, 'throttled', 2, 'Rate limit exceeded'],
    ['git', 'git_diff', { ref: 'HEAD~1..HEAD' }, 'ok', 1000.5],
    ['filesystem', 'read_file', { path: 'large' }, 'tool_error', 1500],
    ['git', 'git_log', {}, 'interrupted', Number.NaN],
    [null, 'delete_all', { path: 'e' }, 'unknown_tool', 0.5],
  ];
}

/** What a recipe prints, and what it complains about. */
function cook(run: string, shell: string): { lines: string[]; complaints: string } {
  const { stdout, stderr } = spawnSync('sh', ['-c', `cat .runs/agents/${run}/mcp_calls.jsonl | ${shell}`], {
    cwd: workspace,
    encoding: 'utf8',
    timeout: 60_000,
  });
  return { lines: stdout.trimEnd().split('\n'), complaints: stderr };
}

function isRateLimit({ outcome }: CallLine): boolean {
  return outcome === 'rate_limited' || outcome === 'throttled';
}

function averages(calls: readonly CallLine[]): string[] {
  const tools = [...new Set(calls.map((call) => call.tool))].sort();
  return tools.map((tool) => {
    const durations = calls.filter((call) => call.tool === tool).map((call) => call.duration_ms ?? 0);
    return `${tool} ${Number((durations.reduce((sum, ms) => sum + ms, 0) / durations.length).toPrecision(6))}`;
  });
}

function countByServer(calls: readonly CallLine[]): string[] {
  const servers = [...new Set(calls.map((call) => String(call.server)))].sort();
  return servers.map((server) => `${server}=${calls.filter((call) => String(call.server) === server).length}`);
}

function idsOf(calls: readonly CallLine[]): string[] {
  return calls.map((call) => call.call_id);
}
