import { expect, test } from 'vitest';
import { fixturePath } from '../../support/fixture-servers.ts';
import { openStage, type Stage } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';

const echo = { command: process.execPath, args: [fixturePath('echo-stdio.mjs')] };

async function openBudgets(agents: object): Promise<Stage> {
  const stage = await openStage();
  await stage.start({ servers: { up: echo }, agents });
  await stage.hub.discover();
  return stage;
}

const limited = { kind: 'failed', error: { code: 'RATE_LIMITED' } };
const limitedFor = { kind: 'failed', error: { code: 'RATE_LIMITED', details: { retryAfterMs: expect.any(Number) } } };

test(verifies('budget:agent', 'a call over the budget per minute waits, and is recorded'), async () => {
  const stage = await openBudgets({
    dev: { servers: ['up'], budget: { calls_per_minute: 2 } },
    free: { servers: ['up'] },
  });
  const call = (agent: string) => stage.call('up_echo', { text: 'x' }, { agent });
  expect([await call('dev'), await call('dev')]).toMatchObject([{ kind: 'result' }, { kind: 'result' }]);
  expect(await call('dev')).toMatchObject(limitedFor);
  expect(await call('free')).toMatchObject({ kind: 'result' });
  expect(await call('dev')).toMatchObject(limitedFor);
  stage.clock.advance(61_000);
  expect(await call('dev')).toMatchObject({ kind: 'result' });
  const refused = (await stage.ledger()).filter(({ outcome }) => outcome === 'rate_limited');
  expect(refused.map(({ error }) => error)).toEqual([
    expect.stringContaining('rate limit'),
    expect.stringContaining('rate limit'),
  ]);
});

test(verifies('budget:agent', 'the budgets of an agent and of its role both count, for each agent alone'), async () => {
  const stage = await openBudgets({
    crew: { servers: ['up'], budget: { calls_per_hour: 2 } },
    one: { role: 'crew' },
    two: { role: 'crew', budget: { calls_per_run: 1 } },
  });
  const call = (agent: string) => stage.call('up_echo', { text: 'x' }, { agent });
  expect([await call('one'), await call('one'), await call('one')]).toMatchObject([
    { kind: 'result' },
    { kind: 'result' },
    limitedFor,
  ]);
  expect([await call('two'), await call('two')]).toMatchObject([{ kind: 'result' }, limited]);
});

test('bytes of arguments and results count until the run has used them up', async () => {
  const stage = await openBudgets({ dev: { servers: ['up'], budget: { bytes_per_run: 1000 } } });
  const call = () => stage.call('up_echo', { text: 'x'.repeat(1500) }, { agent: 'dev' });
  expect([await call(), await call()]).toMatchObject([{ kind: 'result' }, limited]);
});

test('counts survive a reload, and a smaller budget counts them', async () => {
  const stage = await openBudgets({ dev: { servers: ['up'], budget: { calls_per_minute: 5 } } });
  const call = () => stage.call('up_echo', { text: 'x' }, { agent: 'dev' });
  for (let index = 0; index < 3; index++) expect(await call()).toMatchObject({ kind: 'result' });
  await stage.configure({
    servers: { up: echo },
    agents: { dev: { servers: ['up'], budget: { calls_per_minute: 3 } } },
  });
  await stage.hub.reload();
  expect(await call()).toMatchObject(limitedFor);
});

test(verifies('budget:agent', 'a delegated call spends the budget of every agent in its chain'), async () => {
  const stage = await openBudgets({
    lead: { servers: ['up'], budget: { calls_per_minute: 1 } },
    tester: { servers: ['up'] },
  });
  const call = (chain: readonly string[]) => {
    const caller = stage.hub.callerFor({ agent: chain[0] ?? '', chain });
    return stage.hub.call({
      kind: 'tool',
      caller,
      name: 'up_echo',
      argumentsText: '{}',
      args: {},
      meta: '',
      channel: undefined,
    }).result;
  };
  expect(await call(['tester', 'lead'])).toMatchObject({ kind: 'result' });
  expect(await call(['tester', 'lead'])).toMatchObject(limitedFor);
  expect(await call(['lead'])).toMatchObject(limitedFor);
  expect(await call(['tester'])).toMatchObject({ kind: 'result' });
});
