import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import type { CallRequest } from './call.ts';
import { type CallStage, openCallStage } from './call-stage.fixture.ts';
import { offering, resultOf } from './scripted-server.fixture.ts';

const offer = {
  resources: ['memo://1', 'memo://secret'],
  templates: ['memo://{id}'],
  prompts: ['greet', 'ask'],
};

test(
  verifies('view:others', 'a resource is read, a prompt got and an argument completed over the path of every call'),
  async () => {
    const stage = await open();
    stage.files.replies = [() => resultOf('{"contents":[]}')];
    expect(await run(stage, 'resource', 'memo://1')).toMatchObject({ kind: 'result' });
    await run(stage, 'prompt', 'files_greet', '{"who": "me"}');
    await run(stage, 'completion', 'prompt:files_greet', '{"argument":{"name":"who","value":"m"}}');
    expect(stage.files.sent.map(({ method, members, name }) => [method, members, name])).toEqual([
      ['resources/read', '"uri":"memo://1"', 'memo://1'],
      ['prompts/get', '"name":"greet","arguments":{"who": "me"}', 'greet'],
      [
        'completion/complete',
        '"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":"m"}',
        'greet',
      ],
    ]);
    expect((await stage.lines()).map(({ server, tool, method, outcome }) => [server, tool, method, outcome])).toEqual([
      ['files', 'resource:memo://1', 'resources/read', 'ok'],
      ['files', 'prompt:greet', 'prompts/get', 'ok'],
      ['files', 'prompt:greet', 'completion/complete', 'ok'],
    ]);
    expect(stage.metered.map(({ server, outcome }) => [server, outcome])).toEqual(Array(3).fill(['files', 'ok']));
  },
);

test(
  verifies('view:others-hidden', 'hidden and unknown give the same answer, and both are on the ledger'),
  async () => {
    const stage = await open();
    const hidden = await run(stage, 'resource', 'memo://secret');
    const unknown = await run(stage, 'resource', 'none://secret');
    expect(hidden).toMatchObject({ kind: 'failed', error: { code: 'RESOURCE_UNKNOWN' } });
    const textOf = (result: typeof hidden): string =>
      JSON.stringify(result.kind === 'failed' ? result.error : undefined);
    expect(textOf(hidden)).toBe(textOf(unknown).replaceAll('none://', 'memo://'));
    expect(stage.files.sent).toEqual([]);
    expect(await stage.lines()).toMatchObject([
      { server: null, tool: 'resource:memo://secret', method: 'resources/read', decision: 'deny' },
      { server: null, tool: 'resource:none://secret', method: 'resources/read', decision: 'deny' },
    ]);
  },
);

test('what wants a human is refused and says so', async () => {
  const stage = await open();
  const result = await run(stage, 'prompt', 'files_ask');
  expect(result).toMatchObject({ kind: 'failed', error: { code: 'APPROVAL_REQUIRED' } });
  expect(stage.files.sent).toEqual([]);
});

async function open(): Promise<CallStage> {
  const stage = await openCallStage();
  stage.files.catalog = offering(offer);
  return stage;
}

function run(stage: CallStage, kind: CallRequest['kind'], name: string, argumentsText = '{}') {
  return stage.run(stage.call(name, { kind, argumentsText, args: JSON.parse(argumentsText) }));
}
