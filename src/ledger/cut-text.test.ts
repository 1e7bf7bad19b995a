import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  type CallParts,
  doneRecord,
  ledgerConnection,
  ledgerSubject,
  refusedRecord,
  runLine,
  sentRecord,
} from './call-text.ts';
import { memberText, startOf } from './cut-text.ts';
import { endParts } from './end-text.ts';
import { pairCalls } from './journal-reader.ts';

const plain = { json: (text: string) => text, message: (text: string) => text };
const connection = ledgerConnection({ transport: 'stdio', protocolVersion: null, sessionId: null });

function call(args: string): CallParts {
  const subject = ledgerSubject({ agent: 'a', chain: ['a'], server: 's', tool: 't', decision: 'allow' });
  return { id: 'boot-1', ts: '2026-01-01T00:00:00.000Z', run: 'r', subject, args };
}

test.each(['sent', 'refused'])('a %s record that was cut reads the same after a crash', async (kind) => {
  const folder = mkdtempSync(join(tmpdir(), 'qm-cut-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const text = JSON.stringify({ quoted: '"args":', long: 'ü"\\'.repeat(2000) });
  const parts = call(memberText('args', text, text, 1000));
  const end = endParts({ outcome: 'upstream_error', durationMs: 1, error: 'e'.repeat(9000) }, plain);
  const records =
    kind === 'sent' ? [sentRecord(parts, connection), doneRecord(parts, end, parts.ts)] : [refusedRecord(parts, end)];
  const path = join(folder, 'journal.jsonl');
  writeFileSync(path, records.join(''));
  const lines: string[] = [];
  const { corrupt } = await pairCalls(
    [{ path }],
    (read, ended) => void lines.push(runLine(read.parts, connection, ended)),
  );
  expect([corrupt, lines]).toEqual([0, [runLine(parts, connection, end)]]);
  const line = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
  expect(line).toMatchObject({
    args: text.slice(0, 1000),
    args_length: text.length,
    error: `${'e'.repeat(4000)}…`,
    error_length: 9000,
  });
  expect(line.args_sha256).toMatch(/^[0-9a-f]{64}$/);
  expect(line.error_sha256).toMatch(/^[0-9a-f]{64}$/);
});

test('no character is cut in half', () => {
  expect(startOf('ab😀', 3)).toBe('ab');
  expect(startOf('ab😀', 4)).toBe('ab😀');
});
