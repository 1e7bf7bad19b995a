import { createHook } from 'node:async_hooks';
import { expect, test } from 'vitest';
import type { ServerPlan, ServerSpec } from '../domain/index.ts';
import { type TrustItem, trustDigest } from './trust-item.ts';

function itemWith(values: ReadonlyMap<string, string>): TrustItem {
  const plan: ServerPlan = { transports: [], values, files: [], reaches: [] };
  return { kind: 'server', name: 'one', hash: '', plan, spec: {} as ServerSpec, rights: {} };
}

const many = new Map(Array.from({ length: 5000 }, (_, index) => [`V${index}`, `value${index}`]));

test('values are hashed slowly, all at once, and off the event loop', async () => {
  let derivations = 0;
  let turns = 0;
  const hook = createHook({
    init(_, type) {
      if (type === 'SCRYPTREQUEST') derivations += 1;
    },
  }).enable();
  const digest = trustDigest([itemWith(many), itemWith(many)]);
  setImmediate(() => {
    turns += 1;
  });
  expect(await digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  hook.disable();
  expect([derivations, turns]).toEqual([1, 1]);
});

test('every name and value counts, and the place where it belongs', async () => {
  const digests = await Promise.all([
    trustDigest([itemWith(new Map())]),
    trustDigest([itemWith(new Map([['A', '1']]))]),
    trustDigest([itemWith(new Map([['A', '2']]))]),
    trustDigest([itemWith(new Map([['B', '1']]))]),
    trustDigest([itemWith(new Map([['A', '1']])), itemWith(new Map())]),
    trustDigest([itemWith(new Map()), itemWith(new Map([['A', '1']]))]),
  ]);
  expect(new Set(digests).size).toBe(digests.length);
});
