import { expect, test } from 'vitest';
import type { Matrix } from './matrix.fixture.ts';

/** A message on a pipe of the handshake era does not say which call it belongs to. */
export function testSharedPipes(matrix: () => Matrix): void {
  test('nobody is asked over a pipe that is shared', async () => {
    for (const tool of ['ask_form', 'ask_url', 'ask_sampling', 'ask_roots', 'ask_twice']) {
      await matrix().everywhere(async ({ client, server, nonce }) => {
        expect(await client.call(`${server}_${tool}`, { nonce }), tool).toMatchObject({ isError: true });
      });
    }
    for (const { records } of [matrix().ann, matrix().bob]) expect(records.questions).toEqual([]);
  });

  test('nobody reads the log of a pipe that is shared', async () => {
    const { ann, bob, everywhere } = matrix();
    await Promise.all([ann.logFrom('debug'), bob.logFrom('debug')]);
    await everywhere(async ({ client, server, nonce, sign }) => {
      expect(await client.say(`${server}_chatty`, { nonce })).toBe(sign);
    });
    for (const { records } of [ann, bob]) expect(records.logs).toEqual([]);
  });
}

export function testOwnPipes(matrix: () => Matrix): void {
  test('everybody reads the log of their own pipe', async () => {
    const { ann, bob, everywhere } = matrix();
    await Promise.all([ann.logFrom('notice'), bob.logFrom('error')]);
    await everywhere(async ({ client, server, nonce, sign }) => {
      expect(await client.say(`${server}_chatty`, { nonce })).toBe(sign);
      const levels = client === ann ? ['notice', 'warning', 'error'] : ['error'];
      const lines = client.records.logs.filter((line) => line.startsWith(`${sign}:`));
      expect(lines).toEqual(levels.map((level) => `${sign}:${level}`));
    });
  });
}
