import { expect, test } from 'vitest';
import { heldAfter } from '../../test/support/held-memory.ts';
import { type Message, readBody } from './message.ts';

function single(text: string): Message | undefined {
  return readBody(text).messages[0];
}

test.each(['tools/call', 'ping'])('an id has at most 256 characters as written: %s', (method) => {
  const message = (id: string): string => `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{"name":"x"}}`;
  for (const id of [`"${'a'.repeat(254)}"`, `1${'0'.repeat(255)}`]) {
    expect(single(message(id))).toMatchObject({ kind: 'request', idText: id });
  }
  for (const id of [`"${'a'.repeat(255)}"`, `"${'\\u0061'.repeat(100)}"`, `1.${'0'.repeat(1_000_000)}`]) {
    expect(single(message(id))).toEqual({ kind: 'invalid', reason: '"id" may have 256 characters' });
    expect(single(`{"jsonrpc":"2.0","id":${id},"result":{}}`)).toMatchObject({ kind: 'invalid' });
  }
});

test('a large message is counted with all its parts, and its id does not keep it', () => {
  const large = (junk: string): string =>
    `{"jsonrpc":"2.0","id":"a-name-of-some-length","method":"ping","params":{"junk":${junk}}}`;
  expect(readBody(large(`"${'x'.repeat(100_000)}"`)).heldBytes).toBeGreaterThan(100_000);
  expect(single(large(`[${'[],'.repeat(50_000)}[]]`))).toMatchObject({
    heldBytes: expect.toSatisfy(isOver(3_000_000)),
  });
  const batch = readBody(`[${large(`"${'x'.repeat(100_000)}"`)},{"jsonrpc":"2.0","id":2,"method":"ping"}]`);
  expect(batch.messages).toMatchObject([{ heldBytes: expect.toSatisfy(isOver(100_000)) }, { heldBytes: 0 }]);
  expect(batch.heldBytes).toBeGreaterThan(100_000);
  let ids: string[] = [];
  const held = heldAfter(() => {
    ids = Array.from({ length: 20 }, () => {
      const [message] = readBody(large(`"${'x'.repeat(1_000_000)}"`)).messages;
      return message?.kind === 'request' ? message.idText : '';
    });
  });
  expect(ids[19]).toBe('"a-name-of-some-length"');
  expect(held).toBeLessThan(1_000_000);
});

const isOver = (least: number) => (value: number) => value > least;
