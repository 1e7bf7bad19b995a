import { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { heldAfter } from '../../../../test/support/held-memory.ts';
import { LeanRequest } from './lean-request.ts';
import { readRequestText } from './read-text.ts';

async function read(chunks: readonly (Buffer | string)[], maxBytes: number, contentLength?: string) {
  const request = new LeanRequest(new Socket());
  const seen: string[] = [];
  readRequestText(
    request,
    contentLength,
    maxBytes,
    (text) => seen.push(`text ${text}`),
    (error) => seen.push(error.code),
  );
  for (const chunk of chunks) request.push(Buffer.from(chunk));
  request.push(null);
  await setImmediate();
  return seen;
}

test('pieces come together, and a character may lie across them', async () => {
  const bytes = Buffer.from('aé€');
  expect(await read([bytes.subarray(0, 2), bytes.subarray(2, 4), bytes.subarray(4)], 100)).toEqual(['text aé€']);
  expect(await read([], 100)).toEqual(['text ']);
});

test('a body that comes byte by byte holds little more than its bytes, and is read whole', async () => {
  const request = new LeanRequest(new Socket());
  const seen: string[] = [];
  readRequestText(
    request,
    undefined,
    1_000_000,
    (text) => seen.push(text),
    (error) => seen.push(error.code),
  );
  const sent = 'é€x'.repeat(50_000);
  const held = heldAfter(() => {
    const bytes = Buffer.from(sent);
    for (let at = 0; at < bytes.length; at++) request.push(bytes.subarray(at, at + 1));
  });
  expect(held).toBeLessThan(5_000_000);
  request.push(null);
  await setImmediate();
  expect(seen).toEqual([sent]);
});

test('too much is refused once, however much more comes', async () => {
  expect(await read(['aaaa', 'bbbb', 'cccc', 'dddd'], 6)).toEqual(['REQUEST_TOO_LARGE']);
  expect(await read(['aaaa', 'bb'], 6)).toEqual(['text aaaabb']);
});

test('an announced length over the limit is refused before anything is read', async () => {
  expect(await read(['a'], 6, '7')).toEqual(['REQUEST_TOO_LARGE']);
});

test('text that is not UTF-8 is refused', async () => {
  expect(await read([Buffer.from([0x22, 0xc3, 0x22])], 100)).toEqual(['PARSE_ERROR']);
});
