import { expect, test } from 'vitest';
import type { MatrixClient } from '../../support/matrix-clients.ts';
import { eventually, within } from '../../support/within.ts';
import type { Matrix } from './matrix.fixture.ts';

/** Tools, for clients and servers of either era: each call has its own answer, its own steps and its own end. */
export function testCalls(matrix: () => Matrix): void {
  test('every call has its own answer', async () => {
    const { everywhere } = matrix();
    for (let round = 0; round < 5; round++) {
      await everywhere(async ({ client, server, nonce, sign }) => {
        expect(await client.say(`${server}_echo`, { nonce })).toBe(sign);
      });
    }
  });

  test('the values of answers', async () => {
    await matrix().everywhere(async ({ client, server, nonce }) => {
      const { structuredContent } = await client.call(`${server}_structured`, { nonce });
      expect(structuredContent).toEqual({ label: server, nonce, length: nonce.length });
    });
  });

  test('steps arrive at the call that they belong to', async () => {
    await matrix().everywhere(async ({ client, server, nonce, sign }) => {
      expect(await client.say(`${server}_steps`, { nonce, count: 3 })).toBe(sign);
      const steps = client.records.progress.filter((message) => message.startsWith(sign));
      expect(steps).toEqual([`${sign}:1`, `${sign}:2`, `${sign}:3`]);
    });
  });

  test('a cancelled call ends at its server, and no other', async () => {
    const { ann, bob, everywhere } = matrix();
    const hanging = await everywhere(async ({ client, server, nonce, sign }) => {
      const enough = new AbortController();
      const ended = client.call(`${server}_hang`, { nonce }, enough.signal).catch((error: unknown) => error);
      await eventually(() => client.records.progress.includes(`${sign}:hangs`) || undefined, `${sign} to hang`);
      return { client, server, nonce, enough, ended };
    });
    const cancel = async (client: MatrixClient): Promise<void> => {
      for (const { server, nonce, enough, ended } of hanging.filter((one) => one.client === client)) {
        enough.abort();
        await within(ended, `${nonce} to end`);
        await eventually(
          async () => (await cancelled(client, server)).includes(nonce) || undefined,
          `${server} to hear that ${nonce} is cancelled`,
        );
      }
    };
    await cancel(ann);
    for (const { client, server, nonce } of hanging) {
      expect((await cancelled(client, server)).includes(nonce), nonce).toBe(client === ann);
    }
    await cancel(bob);
  });
}

async function cancelled(client: MatrixClient, server: string): Promise<string[]> {
  const { label, nonces } = JSON.parse(await client.say(`${server}_cancelled`, {})) as {
    label: string;
    nonces: string[];
  };
  expect(label).toBe(server);
  return nonces;
}
