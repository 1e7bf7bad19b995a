import { expect, test } from 'vitest';
import { ScanFailure } from './json/scan-json.ts';
import { readUpstreamMessage, type UpstreamMessage } from './upstream-message.ts';

function answer(resultText: string): string {
  return `{"jsonrpc":"2.0","id":1,"result":${resultText}}`;
}

function result(text: string): UpstreamMessage & { kind: 'result' } {
  const message = readUpstreamMessage(text);
  if (message.kind !== 'result') throw new Error(`read as ${message.kind}`);
  return message;
}

const many = (count: number): string => Array.from({ length: count }, (_, index) => `"k${index}":0`).join(',');
const padding = `"pad":"${'x'.repeat(300_000)}"`;

test('a message or a result with over a thousand members is garbage, and its request is known', () => {
  const reason = 'with over 1000 members in one object';
  const wide = `{${padding},${many(1000)}}`;
  expect(readUpstreamMessage(answer(wide))).toEqual({ kind: 'garbage', reason, id: 1 });
  expect(readUpstreamMessage(`{"jsonrpc":"2.0","id":1,"result":{},${many(1000)}}`)).toEqual({
    kind: 'garbage',
    reason,
    id: 1,
  });
  expect(readUpstreamMessage(answer(`{${padding},${many(999)}}`)).kind).toBe('result');
});

test('deeper down a large result may have any number of members and elements', () => {
  const text = `{${padding},"structuredContent":{${many(50_000)}},"content":[${'{},'.repeat(50_000)}{}]}`;
  const message = result(answer(text));
  expect(message.text).toBe(text);
  expect(Object.keys(message.value.structuredContent as object)).toHaveLength(50_000);
});

test('a large answer for which nobody waits, or that is longer than it may be, is not read', () => {
  const large = answer(`{${padding}}`);
  const limits = new Map<unknown, number>([[1, 1000]]);
  expect(readUpstreamMessage(large, () => undefined)).toEqual({ kind: 'unasked', id: 1 });
  expect(readUpstreamMessage(large, (id) => limits.get(id))).toEqual({
    kind: 'garbage',
    reason: 'over 1000 characters',
    id: 1,
  });
});

test('a result with many keys is not parsed as a whole, in whatever spelling', () => {
  const keys = Array.from({ length: 20_000 }, (_, index) => `"k${index}" :0`).join(',');
  const { parse } = JSON;
  let parsed = 0;
  JSON.parse = (source: string) => {
    parsed += source.length;
    return parse(source);
  };
  try {
    expect(readUpstreamMessage(answer(`{"structuredContent":{${keys}}}`)).kind).toBe('result');
  } finally {
    JSON.parse = parse;
  }
  expect(parsed).toBeLessThan(100);
});

test('large messages that must be parsed have a bound for their values', () => {
  const values = `[${'1,'.repeat(100_001)}1]`;
  expect(readUpstreamMessage(`{"method":"m","params":{"a":${values}}}`)).toMatchObject({ kind: 'garbage' });
  expect(readUpstreamMessage(`{"method":"m","params":${values}}`)).toMatchObject({ kind: 'garbage' });
  expect(readUpstreamMessage(`{"id":1,"error":{"code":1,"message":"m","data":${values}}}`)).toEqual({
    kind: 'garbage',
    reason: 'over 100000 values that is not a result',
    id: 1,
  });
  expect(readUpstreamMessage(`{"method":"m","params":{${padding}}}`).kind).toBe('notification');
});

test('members that the hub reads itself are small, or texts', () => {
  const nothing = `[${'[],'.repeat(100_000)}[]]`;
  for (const key of ['isError', 'resultType', 'taskId', 'ttlMs', 'nextCursor', 'requestState']) {
    const garbage = { kind: 'garbage', reason: `with a large ${key}`, id: 1 };
    expect(readUpstreamMessage(answer(`{"${key}":${nothing}}`))).toEqual(garbage);
  }
  expect(result(answer(`{"requestState":"${'x'.repeat(300_000)}"}`)).value.requestState).toHaveLength(300_000);
});

// A stack trace costs more than reading the message.
test('unreadable messages create no errors', () => {
  let thrown = 0;
  const { parse } = JSON;
  JSON.parse = (source: string) => {
    try {
      return parse(source);
    } catch (error) {
      thrown++;
      throw error;
    }
  };
  try {
    for (const text of ['x', '{', '{"a":1}}', '{"a"', '{"a":"', '[', '[tru', '', '\r', 'INFO: {"a":1}'])
      expect(readUpstreamMessage(text)).toMatchObject({ kind: 'garbage' });
  } finally {
    JSON.parse = parse;
  }
  expect(thrown).toBe(0);
  expect(new ScanFailure('syntax', 'x')).not.toBeInstanceOf(Error);
});
