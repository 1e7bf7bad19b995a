import fc from 'fast-check';
import { expect, test } from 'vitest';
import { doneRecord, type EndParts, ledgerConnection, ledgerSubject, runLine, sentRecord } from './call-text.ts';

const word = fc.string({ unit: 'grapheme', maxLength: 12, size: 'max' });
const text = fc.oneof(word, fc.constantFrom('', '\0', '","', '\\', '"args":'));
const subjects = fc
  .uniqueArray(fc.tuple(text, text, fc.constantFrom('allow', 'ask')), { minLength: 1, maxLength: 3 })
  .map((all) =>
    all.map(([agent, tool, decision]) => {
      const ruled = decision === 'allow' ? { rule: null, ruleSource: null } : { rule: tool, ruleSource: 'a.yaml:1' };
      const facts = { agent, tool, server: 'files', decision, rule: ruled.rule, rule_source: ruled.ruleSource };
      return { facts, subject: ledgerSubject({ agent, tool, server: 'files', decision, ...ruled, chain: [agent] }) };
    }),
  );
const connections = [
  { transport: 'stdio', protocolVersion: '2025-06-18', sessionId: null } as const,
  { transport: 'http', protocolVersion: '2026-07-28', sessionId: 's\0' } as const,
].map((facts) => ({ facts, connection: ledgerConnection(facts) }));
const ends = fc.record<EndParts>({
  outcome: fc.constantFrom('ok', 'task', 'tool_error', 'timeout'),
  ms: fc.constantFrom('0', '1.5', 'null'),
  error: fc.oneof(
    fc.constant('null'),
    text.map((said) => JSON.stringify(said)),
  ),
  http: fc.constantFrom('null', '200', '502'),
  retries: fc.constantFrom('0', '1', 'null'),
});
const calls = fc.array(
  fc.record({
    id: fc.nat().map((count) => `boot-${count}`),
    run: fc.constantFrom('one', 'two'),
    args: fc.json(),
    place: fc.nat(),
    connection: fc.constantFrom(...connections),
    end: ends,
  }),
  { minLength: 1, maxLength: 12 },
);

test('property: every text says what was called and how it ended, whatever was written before it', () => {
  fc.assert(
    fc.property(subjects, calls, (known, made) => {
      for (const { id, run, args, place, connection, end } of made) {
        const { facts, subject } = known[place % known.length] as (typeof known)[number]; // there is at least one
        const call = { id, run, ts: '2026-01-01T00:00:00.000Z', args, subject };
        const { transport, protocolVersion, sessionId } = connection.facts;
        const carried = { transport, protocol_version: protocolVersion, session_id: sessionId };
        expect(parse(sentRecord(call, connection.connection))).toEqual({
          ...{ k: 'sent', ts: call.ts, id, run, ...facts, ...carried, args: JSON.parse(args) },
        });
        const [error, http, retries, ms] = [end.error, end.http, end.retries, end.ms].map((part) => JSON.parse(part));
        expect(parse(doneRecord(call, end, call.ts))).toEqual({
          ...{ k: 'done', ts: call.ts, id, outcome: end.outcome, ms, error, http, retries },
        });
        const status = end.outcome === 'ok' || end.outcome === 'task' ? 'ok' : 'error';
        expect(parse(runLine(call, connection.connection, end))).toEqual({
          ...{ ts: call.ts, ...facts, args: JSON.parse(args), status, outcome: end.outcome, duration_ms: ms, error },
          ...{ call_id: id, run_id: run, ...carried, http_status: http, retries },
        });
      }
    }),
  );
});

test('the members of a run line stand in one order, however the call ended', () => {
  const subject = ledgerSubject({ agent: 'a', chain: ['a'], server: 's', tool: 't', decision: 'allow' });
  const call = { id: 'boot-1', run: 'one', ts: '2026-01-01T00:00:00.000Z', args: '{}', subject };
  const well: EndParts = { outcome: 'ok', ms: '1', error: 'null', http: 'null', retries: '0' };
  const { connection } = connections[0] as (typeof connections)[number]; // there are two
  const order = (end: EndParts) => Object.keys(parse(runLine(call, connection, end)));
  expect(order(well)).toEqual(order({ ...well, outcome: 'timeout', error: '"late"' }));
});

function parse(line: string): Record<string, unknown> {
  expect(line.endsWith('\n') && line.indexOf('\n') === line.length - 1).toBe(true);
  return JSON.parse(line);
}
