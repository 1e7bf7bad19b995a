import { expect, test } from 'vitest';
import { fixturePath } from '../../support/fixture-servers.ts';
import { openStage } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';

test(
  verifies('limits:result-size', 'a result over the limit is dropped, and the agent learns both sizes'),
  async () => {
    const stage = await openStage();
    const echo = { command: process.execPath, args: [fixturePath('echo-stdio.mjs')] };
    await stage.start({ servers: { up: { ...echo, limits: { max_result_bytes: 2000 } }, free: echo } });
    await stage.hub.discover();
    const message = 'é'.repeat(1100);
    expect(await stage.call('free_echo', { message })).toMatchObject({ kind: 'result' });
    expect(await stage.call('up_echo', { message: 'é'.repeat(100) })).toMatchObject({ kind: 'result' });
    expect(await stage.call('up_echo', { message })).toMatchObject({
      error: { code: 'RESULT_TOO_LARGE', details: { bytes: expect.any(Number), limit: 2000 } },
    });
    expect((await stage.ledger()).at(-1)).toMatchObject({ status: 'error', tool: 'echo' });
  },
);
