import { expect, test } from 'vitest';
import type { CallLine } from '../../../ledger/index.ts';
import { createColours } from '../terminal/colours.ts';
import { callLineRenderer, renderCalls } from './calls-columns.ts';

// Without a zone these are local times, as they are shown.
const now = new Date(2026, 10, 16, 12).getTime();
const today = new Date(2026, 10, 16, 9, 5, 7).toISOString();
const before = new Date(2026, 10, 15, 23, 59, 58).toISOString();
const colours = createColours(false);

const call: CallLine = {
  ts: today,
  server: 'files',
  tool: 'read_text_file',
  args: {},
  status: 'error',
  outcome: 'tool_error',
  duration_ms: 385.94,
  error: 'There is\nno such file.',
  agent: 'tester',
  call_id: 'a-1',
  run_id: 'tester-yaytqm88',
  transport: 'stdio',
  protocol_version: null,
  session_id: null,
  http_status: null,
  retries: 0,
  decision: 'allow',
};

test.each([
  [
    undefined,
    '2026-11-16 09:05:07  tester        files.read_text_file              tool_error          385.9  tester-yaytqm88       There is no such file.',
  ],
  [
    140,
    '2026-11-16 09:05:07  tester        files.read_text_file              tool_error          385.9  tester-yaytqm88       There is no such file.',
  ],
  [80, '09:05:07     tester      files.read_text_file     tool_error    There is no …'],
  [40, '09:05:07     files.read_t…  tool_error'],
])('a followed call in %s columns', (width, expected) => {
  const line = callLineRenderer({ colours, width, now })(call);
  expect(line).toBe(expected);
  expect(line.length).toBeLessThanOrEqual(width ?? Infinity);
});

test('on a narrow terminal another day is told in place of the seconds', () => {
  const [, first, second] = renderCalls([{ ...call, ts: before }, call], { colours, width: 60, now });
  expect(first).toMatch(/^11-15 23:59 {2}/);
  expect(second).toMatch(/^09:05:07 {5}/);
});

test('an answer that was kept says so', () => {
  const kept = { ...call, status: 'ok', outcome: 'ok', cached: true, transport: null, error: null } as const;
  const [, line] = renderCalls([kept], { colours, width: undefined, now });
  expect(line).toContain('  ok (cached)  ');
});

test('a duration that nobody knows is a dash', () => {
  const [, line] = renderCalls([{ ...call, duration_ms: null, error: null }], { colours, width: undefined, now });
  expect(line).toMatch(/tool_error +- {2}tester-yaytqm88$/);
});
