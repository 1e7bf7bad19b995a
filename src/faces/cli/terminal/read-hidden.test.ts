import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { within } from '../../../../test/support/within.ts';
import { type HiddenText, readHidden } from './read-hidden.ts';

function open(maxLength = 1000): {
  readonly result: Promise<HiddenText>;
  readonly input: PassThrough;
  readonly stop: AbortController;
  readonly shown: () => string;
  readonly rawModes: boolean[];
  type(keys: string): void;
} {
  const rawModes: boolean[] = [];
  const input = Object.assign(new PassThrough(), { setRawMode: (on: boolean) => rawModes.push(on) });
  const output = new PassThrough();
  const stop = new AbortController();
  const result = within(readHidden({ input, output }, maxLength, stop.signal), 'the line to end');
  return {
    result,
    input,
    stop,
    shown: () => String(output.read() ?? ''),
    rawModes,
    type: (keys) => input.write(keys),
  };
}

const modes = '\x1b[?2004h\x1b[?2004l';

test.each([
  ['typed', 'sesame\r', 'sesame'],
  ['corrected', 'sesamx\x7fe\r', 'sesame'],
  ['begun anew', 'wrong\x15sesame\r', 'sesame'],
  ['with keys that mean nothing here', 'ses\x1b[A\x01\tame\x1b[3~\r', 'sesame'],
  ['pasted and ended by Enter', '\x1b[200~ghp_1\x1b[201~\r', 'ghp_1'],
  ['pasted with line breaks', '\x1b[200~-----BEGIN\r\tkey\r-----END\r\x1b[201~\r', '-----BEGIN\n\tkey\n-----END\n'],
  ['of any characters', 'pä$$ wörd 𝄞\r', 'pä$$ wörd 𝄞'],
  ['empty', '\r', ''],
])('a value that is %s', async (_what, keys, text) => {
  const { result, type, shown, rawModes } = open();
  type(keys);
  expect(await result).toEqual({ kind: 'text', text });
  expect(shown()).toBe(modes);
  expect(rawModes).toEqual([true, false]);
});

test.each([
  ['Ctrl-C', 'ses\x03', 'interrupt'],
  ['Ctrl-D', '\x04', 'interrupt'],
  ['more lines, from a terminal that marks no pastes', '-----BEGIN\rkey\r', 'several-lines'],
  ['too much', 'x'.repeat(1001), 'too-long'],
])('%s ends it without a value', async (_what, keys, kind) => {
  const { result, type, shown, rawModes } = open();
  type(keys);
  expect(await result).toEqual({ kind });
  expect(shown()).toBe(modes);
  expect(rawModes).toEqual([true, false]);
});

test('the end of the input and a stop end it', async () => {
  const ended = open();
  ended.input.end('ses');
  expect(await ended.result).toEqual({ kind: 'interrupt' });
  const during = open();
  during.type('ses');
  during.stop.abort();
  expect(await during.result).toEqual({ kind: 'interrupt' });
  const aborted = new AbortController();
  aborted.abort();
  const streams = { input: new PassThrough(), output: new PassThrough() };
  expect(await readHidden(streams, 10, aborted.signal)).toEqual({ kind: 'interrupt' });
});
