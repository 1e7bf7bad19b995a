import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createRedactor } from '../../vault/index.ts';
import { pairCalls } from '../journal/journal-reader.ts';
import {
  type CallParts,
  doneRecord,
  ledgerConnection,
  ledgerSubject,
  refusedRecord,
  runLine,
  sentRecord,
} from './call-text.ts';
import { argumentsMember, cutStart, longestRefusedArguments } from './cut-text.ts';
import { endParts } from './end-text.ts';
import type { Redact } from './redact.ts';
import { redactedConnection, redactedSubject } from './redacted-facts.ts';

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
  const parts = call(argumentsMember(text, 1000, plain));
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
    args_sha256: sha256(text),
    error: `${'e'.repeat(4000)}…`,
    error_length: 9000,
    error_sha256: sha256('e'.repeat(9000)),
  });
});

test('the length and the hash are those of the text as it came, secrets and white space included', () => {
  const redactor = createRedactor(['hunter2-and-more']);
  const text = `{ "a": "hunter2-and-more",  "b": "${'é'.repeat(2000)}" }`;
  expect(JSON.parse(`{"args":${argumentsMember(text, 1000, redactor)}}`)).toEqual({
    args: `{"a":"[redacted]","b":"${'é'.repeat(1000 - '{"a":"[redacted]","b":"'.length)}`,
    args_length: text.length,
    args_sha256: sha256(text),
  });
  const error = `hunter2-and-more ${'e'.repeat(9000)}`;
  const parts = endParts({ outcome: 'throttled', durationMs: 1, error }, redactor);
  expect(JSON.parse(`{"error":${parts.error}}`)).toEqual({
    error: `rate limit: [redacted] ${'e'.repeat(4000 - 'rate limit: [redacted] '.length)}…`,
    error_length: error.length,
    error_sha256: sha256(error),
  });
});

test('of no text is more redacted than is recorded', () => {
  const redactor = createRedactor(['hunter2-and-more']);
  let most = 0;
  const seen = (text: string, limit = Number.POSITIVE_INFINITY): number => Math.min(text.length, limit);
  const watched: Redact = {
    json(text, limit) {
      most = Math.max(most, seen(text, limit));
      return redactor.json(text, limit);
    },
    message(text, limit) {
      most = Math.max(most, seen(text, limit));
      return redactor.message(text, limit);
    },
  };
  const long = 'a=b&token='.repeat(100_000);
  argumentsMember(JSON.stringify({ long }), longestRefusedArguments, watched);
  endParts({ outcome: 'tool_error', durationMs: 1, error: long }, watched);
  redactedConnection({ transport: 'http', protocolVersion: null, sessionId: long }, watched);
  const unknown = ledgerSubject({ agent: 'a', chain: ['a'], server: null, tool: long, decision: 'deny' });
  redactedSubject(unknown, watched);
  expect(most).toBe(longestRefusedArguments);
});

test('arguments that redaction makes too long are cut as well', () => {
  const text = JSON.stringify({ pins: Array.from({ length: 100 }, () => 'pin1') });
  const redactor = createRedactor([], ['pin1']);
  const member = JSON.parse(`{"args":${argumentsMember(text, 1000, redactor)}}`);
  expect([text.length < 1000, member.args.length, member.args_length]).toEqual([true, 1000, text.length]);
});

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

test('no character is cut in half', () => {
  expect(cutStart('ab😀', 3)).toBe('ab');
  expect(cutStart('ab😀', 4)).toBe('ab😀');
});
