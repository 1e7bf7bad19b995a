import { expect, test } from 'vitest';
import { readUpstreamMessage } from '../upstream-message.ts';
import { firstTextOf } from './first-text.ts';

function firstText(result: string): string | undefined {
  const message = readUpstreamMessage(`{"jsonrpc":"2.0","id":1,"result":${result}}`);
  if (message.kind !== 'result') throw new Error(`read as ${message.kind}`);
  return firstTextOf(message.value);
}

const pad = `"pad":"${'x'.repeat(300_000)}"`;
const many = '[],'.repeat(100_000);

test.each([
  ['{"content":[{"type":"text","text":"no"}]}', 'no'],
  ['{"content":[]}', undefined],
  ['{"content":{"text":"no"}}', undefined],
  ['{}', undefined],
  [`{"content":[{"type":"text","text":"n\\u006f"},${many}1]}`, 'no'],
  [`{"content":[{"text":"first","text":"last",${pad}}]}`, 'last'],
  [`{"content":[${many}{"text":"no"}]}`, undefined],
  [`{"content":[{"text":[${many}1]}]}`, undefined],
  [`{"content":{"text":"no",${pad}}}`, undefined],
  [`{"content":"${'x'.repeat(300_000)}"}`, undefined],
  [`{"content":[{${'"a":0,'.repeat(60_000)}"text":"no"}]}`, undefined],
])('the first text of a result, large or small (%#)', (result, expected) => {
  expect(firstText(result)).toBe(expected);
});

test('of a long text only the beginning is read, wherever it is cut', () => {
  for (const piece of ['x', '\\n', '\\\\', '\\u00e9', '\\"', 'ab\\\\\\u0041']) {
    for (let shift = 0; shift < 7; shift++) {
      const json = `"${'-'.repeat(shift)}${piece.repeat(300_000)}"`;
      const text = firstText(`{"content":[{"text":${json}}]}`) ?? '';
      expect(text.endsWith('…')).toBe(true);
      expect((JSON.parse(json) as string).startsWith(text.slice(0, -1))).toBe(true);
      expect(text.length).toBeGreaterThan(10_000);
      expect(text.length).toBeLessThan(70_000);
    }
  }
});

test('nothing else of a large content is parsed', () => {
  const { parse } = JSON;
  let parsed = 0;
  JSON.parse = (source: string) => {
    parsed += source.length;
    return parse(source);
  };
  try {
    expect(firstText(`{"isError":true,"content":[{"text":"no"},${many}${many}${many}1]}`)).toBe('no');
  } finally {
    JSON.parse = parse;
  }
  expect(parsed).toBeLessThan(100);
});
