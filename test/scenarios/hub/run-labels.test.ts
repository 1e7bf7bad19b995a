import { appendFile, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { callLineSchema } from '../../../src/faces/cli/json-shapes.ts';
import { fixturePath } from '../../support/fixture-servers.ts';
import { openStage, type Stage } from '../../support/hub.ts';
import { stateEnv } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { runHere } from '../run-here.fixture.ts';

const named = (...tools: readonly string[]) => ({
  command: process.execPath,
  args: [fixturePath('named-tools.mjs'), ...tools],
});

const config = {
  servers: {
    web: { ...named('fetch', 'ping'), labels: { fetch: ['untrusted-content'] } },
    mail: { ...named('inbox'), labels: ['private-data'] },
    out: named('send'),
  },
  policies: {
    tools: { 'out.*': [{ effect: 'deny', after: 'untrusted-content', message: 'The run read untrusted text.' }] },
  },
};

interface Who {
  readonly run?: string;
  readonly runKeys?: readonly string[];
}

async function call(stage: Stage, name: string, who: Who): Promise<string> {
  const caller = stage.hub.callerFor({ agent: 'dev', ...who });
  const request = { kind: 'tool', caller, name, argumentsText: '{}', args: {}, meta: '', channel: undefined } as const;
  const result = await stage.hub.call(request).result;
  return result.kind === 'failed' ? result.error.code : 'ok';
}

async function open(): Promise<Stage> {
  const stage = await openStage();
  await stage.start(config);
  await stage.hub.discover();
  return stage;
}

test(verifies('labels:run', 'a rule holds after the run called a labelled tool, and only in that run'), async () => {
  const stage = await open();
  const [one, two] = [{ run: 'one' }, { run: 'two' }];
  expect([await call(stage, 'web_ping', one), await call(stage, 'mail_inbox', one)]).toEqual(['ok', 'ok']);
  expect(await call(stage, 'out_send', one)).toBe('ok');
  expect([await call(stage, 'web_fetch', one), await call(stage, 'out_send', one)]).toEqual(['ok', 'POLICY_DENIED']);
  expect(await call(stage, 'out_send', two)).toBe('ok');
  await stage.stop();
  await stage.open();
  await stage.hub.discover();
  expect([await call(stage, 'out_send', one), await call(stage, 'out_send', two)]).toEqual(['POLICY_DENIED', 'ok']);
});

test(verifies('labels:run', 'a token without a run keeps its labels when the hub names another run'), async () => {
  const stage = await open();
  const [mine, other] = [{ runKeys: ['token:mine'] }, { runKeys: ['token:other'] }];
  await call(stage, 'web_fetch', mine);
  await stage.stop();
  await stage.open();
  await stage.hub.discover();
  expect([await call(stage, 'out_send', mine), await call(stage, 'out_send', other)]).toEqual(['POLICY_DENIED', 'ok']);
  expect(await call(stage, 'out_send', { ...mine, run: 'named-by-a-header' })).toBe('POLICY_DENIED');
});

test(
  verifies('labels:run', 'runs of delegated tokens have the labels of the chain, and give theirs to it'),
  async () => {
    const stage = await open();
    const parent = { run: 'parent', runKeys: ['token:p'] };
    const child = { run: 'child', runKeys: ['run:child', 'token:p'] };
    const other = { run: 'other', runKeys: ['run:other', 'token:q'] };
    await call(stage, 'web_fetch', parent);
    expect([await call(stage, 'out_send', child), await call(stage, 'out_send', other)]).toEqual([
      'POLICY_DENIED',
      'ok',
    ]);
    const above = { run: 'above', runKeys: ['run:above'] };
    await call(stage, 'web_fetch', { run: 'below', runKeys: ['run:below', 'run:above'] });
    expect(await call(stage, 'out_send', above)).toBe('POLICY_DENIED');
  },
);

test(
  verifies('labels:shown', 'the record of a call has the labels that its run had, and qm calls shows them'),
  async () => {
    const stage = await open();
    await call(stage, 'web_ping', { run: 'one' });
    await call(stage, 'web_fetch', { run: 'one' });
    await call(stage, 'mail_inbox', { run: 'one' });
    await call(stage, 'out_send', { run: 'one' });
    await call(stage, 'out_send', { run: 'two' });
    const labels = ['private-data', 'untrusted-content'];
    expect((await stage.ledger()).map((line) => [line.tool, line.outcome, line.labels])).toEqual([
      ['ping', 'ok', undefined],
      ['fetch', 'ok', undefined],
      ['inbox', 'ok', ['untrusted-content']],
      ['send', 'denied', labels],
      ['send', 'ok', undefined],
    ]);
    await stage.stop();
    const cwd = stage.workspace;
    const { stdout: json } = await runHere(['calls', '--json', '--status', 'error'], { cwd });
    expect(callLineSchema.parse(JSON.parse(json))).toMatchObject({ tool: 'send', labels });
    const { stdout: table } = await runHere(['calls'], { cwd });
    expect(table).toContain('one [private-data, untrusted-content]');
  },
);

test('where the labels cannot be read, every rule that uses one restricts', async () => {
  const stage = await open();
  await call(stage, 'web_fetch', { run: 'one' });
  await stage.stop();
  const files = await readdir(stateEnv.QM_STATE_DIR, { recursive: true });
  const lists = files.filter((file) => file.endsWith('run-labels.jsonl') && file.includes(basename(stage.workspace)));
  expect(lists.length).toBeGreaterThan(0);
  for (const file of lists) await appendFile(join(stateEnv.QM_STATE_DIR, file), 'not a line\n');
  await stage.open();
  await stage.hub.discover();
  expect(await call(stage, 'out_send', { run: 'two' })).toBe('POLICY_DENIED');
});
