import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { eventually } from '../../../test/support/within.ts';
import { createSilentLogger } from '../../base/index.ts';
import { UpdateListeners, urisAround } from './update-listeners.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function begin() {
  const updates = new UpdateListeners(createSilentLogger(), 'files');
  const heard: string[] = [];
  const listen = (uri: string, client: unknown = uri): (() => void) =>
    updates.add(uri, { client, updated: (changed) => heard.push(`${uri} ${changed}`) > 0 });
  return { updates, heard, listen };
}

test('a change reaches those who subscribed to the resource or to what contains it, and nobody else', async () => {
  const { updates, heard, listen } = begin();
  for (const uri of ['a:/x/y', 'a:/x', 'a:/x/', 'a:/xy', 'a:/x/y/z', 'a:/']) listen(uri);
  updates.tell('a:/x/y');
  expect(heard).toEqual([]);
  await turn();
  expect(heard).toEqual(['a:/x/y a:/x/y', 'a:/x/ a:/x/y', 'a:/x a:/x/y', 'a:/ a:/x/y']);
});

test('whatever a URI looks like, those around it are those that it is within', () => {
  const text = fc.string({ unit: fc.constantFrom('/', '?', '#', 'a', ':'), minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(text, (uri) => {
      const prefixes = Array.from(uri, (_, at) => uri.slice(0, at + 1));
      const around = prefixes.filter((prefix) => /^(?:$|[/?#])/.test(uri.slice(prefix.length)) || prefix.endsWith('/'));
      expect(new Set(urisAround(uri))).toEqual(new Set(around));
    }),
  );
});

test('a client hears of a change once, from the nearest of its resources that may know', async () => {
  const { updates, heard, listen } = begin();
  const client = {};
  for (const uri of ['a:/x', 'a:/x/y']) listen(uri, client);
  updates.add('a:/x/y/z', { client, updated: () => false });
  updates.tell('a:/x/y/z');
  await turn();
  expect(heard).toEqual(['a:/x/y a:/x/y/z']);
});

test(
  verifies('subscriptions:paced', 'many listeners are told in turns, and a change that repeats is told once'),
  async () => {
    const { updates, heard, listen } = begin();
    for (let client = 0; client < 1000; client++) listen('a:/x', client);
    for (let repeated = 0; repeated < 50; repeated++) updates.tell('a:/x/y');
    let most = 0;
    for (let before = 0; heard.length < 1000; before = heard.length) {
      await turn();
      most = Math.max(most, heard.length - before);
    }
    expect(most).toBeLessThan(200);
    await turn();
    expect(heard).toHaveLength(1000);
    updates.tell('a:/x/y');
    await eventually(() => heard.length === 2000 || undefined, 'the next change');
  },
);

test(verifies('subscriptions:paced', 'of any number of changed parts, only so many wait'), async () => {
  const { updates, heard, listen } = begin();
  listen('a:/x');
  for (let part = 0; part < 5000; part++) updates.tell(`a:/x/${part}`);
  updates.tell(`a:/x/${'y'.repeat(3000)}`);
  await eventually(() => heard.length > 1000 || undefined, 'the changes');
  await turn();
  expect(heard).toHaveLength(1001);
  expect(heard.at(-1)).toBe('a:/x a:/x');
});

test('a listener that is gone hears nothing, and a defect of one does not affect the others', async () => {
  const { updates, heard, listen } = begin();
  updates.add('a:/x', {
    client: 'broken',
    updated() {
      throw new Error('a defect');
    },
  });
  const forget = listen('a:/x', 1);
  listen('a:/x', 2);
  updates.tell('a:/x');
  forget();
  forget();
  await turn();
  expect(heard).toEqual(['a:/x a:/x']);
});
