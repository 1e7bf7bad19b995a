import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import type { PolicyDraft } from '../governance/policy/configuration.fixture.ts';
import { summarizeCalls } from '../ledger/index.ts';
import { placesIn } from '../ledger/ledger-places.fixture.ts';
import type { CallRequest } from './call.ts';
import { type CallStage, openCallStage } from './call-stage.fixture.ts';
import { catalogWith, scriptedResult } from './scripted-server.fixture.ts';

const serverCatalog = {
  resources: ['memo://1', 'memo://secret'],
  templates: ['memo://{id}'],
  prompts: ['greet', 'ask'],
};

test(
  verifies('view:resources', 'a resource is read, a prompt got and an argument completed over the path of every call'),
  async () => {
    const stage = await open();
    stage.files.replies = [() => scriptedResult('{"contents":[]}')];
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
  verifies('view:resources-hidden', 'hidden and unknown give the same answer, and the ledger tells them apart'),
  async () => {
    const stage = await open();
    const hidden = await run(stage, 'resource', 'memo://secret');
    const unknown = await run(stage, 'resource', 'none://secret');
    expect(hidden).toMatchObject({ kind: 'failed', error: { code: 'RESOURCE_UNKNOWN' } });
    const textOf = (result: typeof hidden): string =>
      JSON.stringify(result.kind === 'failed' ? result.error : undefined);
    expect(textOf(hidden)).toBe(textOf(unknown).replaceAll('none://', 'memo://'));
    expect(stage.files.sent).toEqual([]);
    const rule = 'files.resource:memo://secret';
    expect(await stage.lines()).toMatchObject([
      { server: 'files', tool: 'resource:memo://secret', method: 'resources/read', outcome: 'denied', rule },
      { server: null, tool: 'resource:none://secret', method: 'resources/read', outcome: 'unknown_tool', rule: null },
    ]);
    expect(stage.metered.map(({ server, outcome }) => [server, outcome])).toEqual([
      ['files', 'denied'],
      [undefined, 'unknown_tool'],
    ]);
  },
);

test(
  verifies('view:resources-hidden', 'every way to a denied resource or prompt is recorded with its server and rule'),
  async () => {
    const stage = await open({ 'files.resource:memo://secret': 'deny', 'files.prompt:*': 'deny' });
    const refused = [
      ['resource', 'memo://secret', 'RESOURCE_UNKNOWN'],
      ['resource', 'files+memo://secret', 'RESOURCE_UNKNOWN'],
      ['subscription', 'memo://secret', 'RESOURCE_UNKNOWN'],
      ['completion', 'resource:memo://secret', 'RESOURCE_UNKNOWN'],
      ['prompt', 'files_greet', 'PROMPT_UNKNOWN'],
      ['completion', 'prompt:files_greet', 'PROMPT_UNKNOWN'],
    ] as const;
    for (const [kind, name, code] of refused) {
      expect(await run(stage, kind, name)).toMatchObject({ kind: 'failed', error: { code } });
    }
    const denied = { server: 'files', decision: 'deny', outcome: 'denied', status: 'error' };
    const ofResource = {
      ...denied,
      tool: 'resource:memo://secret',
      rule: 'files.resource:memo://secret',
      rule_source: 'quartermaster.yaml:1',
    };
    const ofPrompt = { ...denied, tool: 'prompt:greet', rule: 'files.prompt:*', rule_source: 'quartermaster.yaml:2' };
    expect(await stage.lines()).toMatchObject([
      { ...ofResource, method: 'resources/read' },
      { ...ofResource, method: 'resources/read' },
      { ...ofResource, method: 'resources/subscribe' },
      { ...ofResource, method: 'completion/complete' },
      { ...ofPrompt, method: 'prompts/get' },
      { ...ofPrompt, method: 'completion/complete' },
    ]);
    expect(await summarizeCalls(placesIn(stage.workspace))).toMatchObject({
      total_errors: 6,
      errors_by_server: { files: 6 },
      calls_without_server: 0,
      outcomes: { denied: 6 },
    });
    expect(stage.files.sent).toEqual([]);
  },
);

test('a call that requires approval is refused with that reason', async () => {
  const stage = await open();
  const result = await run(stage, 'prompt', 'files_ask');
  expect(result).toMatchObject({ kind: 'failed', error: { code: 'APPROVAL_REQUIRED' } });
  expect(stage.files.sent).toEqual([]);
});

test('a result that is too much work for the hub is an error, in the answer and in the record', async () => {
  const stage = await open();
  const uris = (count: number): string => `{"contents":[${Array(count).fill('{"uri":"ui://x"}').join()}]}`;
  stage.files.replies = [
    () => scriptedResult(uris(10_001)),
    () => scriptedResult(`{"completion":{"values":["${'x'.repeat(300_000)}"]}}`),
    () => scriptedResult(uris(2)),
  ];
  const garbled = { kind: 'failed', error: { code: 'UPSTREAM_GARBLED', details: { server: 'files' } } };
  expect(await run(stage, 'resource', 'memo://1')).toMatchObject(garbled);
  const complete = '{"argument":{"name":"who","value":"m"}}';
  expect(await run(stage, 'completion', 'prompt:files_greet', complete)).toMatchObject(garbled);
  expect(await run(stage, 'resource', 'memo://1')).toMatchObject({
    kind: 'result',
    result: { text: '{"contents":[{"uri":"ui://files/x"},{"uri":"ui://files/x"}]}' },
  });
  const [first, second, third] = await stage.lines();
  expect(first?.outcome).toBe(second?.outcome);
  expect([first?.outcome === 'ok', third?.outcome]).toEqual([false, 'ok']);
});

test('a large read under another name is renamed in its text, small or large alike', async () => {
  const stage = await open();
  const part = (uri: string, size: number): string => `{"uri":"${uri}","n":1.0,"text":"${'x'.repeat(size)}"}`;
  for (const size of [10, 100_000]) {
    stage.files.replies = [() => scriptedResult(`{"contents":[${part('memo://1', size)},${part('other://2', 1)}]}`)];
    const answer = await run(stage, 'resource', 'files+memo://1');
    if (answer.kind !== 'result') throw new Error('no result');
    expect(answer.result.value).toMatchObject({ contents: [{ uri: 'files+memo://1' }, { uri: 'other://2' }] });
    expect(JSON.parse(answer.result.text)).toEqual(answer.result.value);
    // The large one keeps its spelling.
    expect(answer.result.text.includes('"n":1.0')).toBe(size > 10);
  }
});

async function open(policy?: PolicyDraft): Promise<CallStage> {
  const stage = await openCallStage({}, {}, undefined, { policy });
  stage.files.catalog = catalogWith(serverCatalog);
  stage.views.renew(stage.source);
  return stage;
}

function run(stage: CallStage, kind: CallRequest['kind'], name: string, argumentsText = '{}') {
  return stage.run(stage.call(name, { kind, argumentsText, args: JSON.parse(argumentsText) }));
}
