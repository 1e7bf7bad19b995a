import { describe, expect, test } from 'vitest';
import { describeMatrix } from './matrix.fixture.ts';

/** A message on a pipe does not say which call it belongs to. */
describe('pipes that the clients share, to servers of the handshake era', () => {
  describeMatrix(
    () => ({}),
    (matrix) => {
      test('nobody is asked', async () => {
        for (const tool of ['ask_form', 'ask_url', 'ask_sampling', 'ask_roots', 'ask_twice']) {
          await matrix().everywhere(async ({ client, server, nonce }) => {
            expect(await client.call(`${server}_${tool}`, { nonce }), tool).toMatchObject({ isError: true });
          });
        }
        for (const { records } of [matrix().ann, matrix().bob]) expect(records.questions).toEqual([]);
      });

      test('nobody reads the log', async () => {
        const { ann, bob, everywhere } = matrix();
        await Promise.all([ann.logFrom('debug'), bob.logFrom('debug')]);
        await everywhere(async ({ client, server, nonce, sign }) => {
          expect(await client.say(`${server}_chatty`, { nonce })).toBe(sign);
        });
        for (const { records } of [ann, bob]) expect(records.logs).toEqual([]);
      });
    },
    ({ servers, reach }) => servers === 'legacy' && reach === 'stdio',
  );
});

describe('pipes that each client has to itself, to servers of the newer era', () => {
  describeMatrix(
    () => ({ isolation: 'per-session' }),
    (matrix) => {
      test('everybody reads their own log', async () => {
        const { ann, bob, everywhere } = matrix();
        await Promise.all([ann.logFrom('notice'), bob.logFrom('error')]);
        await everywhere(async ({ client, server, nonce, sign }) => {
          expect(await client.say(`${server}_chatty`, { nonce })).toBe(sign);
          const levels = client === ann ? ['notice', 'warning', 'error'] : ['error'];
          const lines = client.records.logs.filter((line) => line.startsWith(`${sign}:`));
          expect(lines).toEqual(levels.map((level) => `${sign}:${level}`));
        });
      });
    },
    ({ servers, reach }) => servers === 'modern' && reach === 'stdio',
  );
});
