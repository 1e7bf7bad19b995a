import { expect, onTestFinished, test } from 'vitest';
import { fixturePath } from '../../../test/support/fixture-servers.ts';
import { ledgerOf } from '../../../test/support/state-home.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { eventually } from '../../../test/support/within.ts';
import { createHub } from '../../index.ts';
import { readCalls } from '../../ledger/index.ts';
import { broken, openLibraryHub, openWorkspace } from './library-stage.fixture.ts';

function matrix(era: 'legacy' | 'modern', label: string): object {
  return {
    command: process.execPath,
    args: [fixturePath('matrix.mjs'), '--era', era, '--label', label, '--stdio'],
  };
}

const servers = { north: matrix('legacy', 'north'), south: matrix('modern', 'south') };

test(verifies('library:resources', 'a program reads what its agent has, under the names that agents see'), async () => {
  const hub = await openLibraryHub({
    servers,
    policies: {
      tools: {
        'south.resource:memo://south/bytes': 'deny',
        'north.resource:memo://north/bytes': 'require-approval',
        'south.prompt:plain': 'deny',
      },
    },
  });
  const agent = hub.agent('reader');
  // Of a URI that both have, the first to come has the short form.
  await agent.call('north.echo', { nonce: 'n' });
  expect((await agent.resources()).map(({ uri, server, decision }) => [uri, server, decision])).toEqual([
    ['memo://north/bytes', 'north', 'ask'],
    ['memo://north/note', 'north', 'allow'],
    ['memo://south/note', 'south', 'allow'],
    ['shared://readme', 'north', 'allow'],
    ['south+shared://readme', 'south', 'allow'],
  ]);
  expect((await agent.resourceTemplates()).map(({ uriTemplate }) => uriTemplate)).toEqual([
    'memo://north/{topic}/{page}',
    'memo://south/{topic}/{page}',
  ]);
  expect((await agent.prompts()).map(({ name, server, prompt }) => [name, server, prompt])).toEqual([
    ['north_greet', 'north', 'greet'],
    ['north_plain', 'north', 'plain'],
    ['south_greet', 'south', 'greet'],
  ]);
  expect((await agent.prompts())[0]).toMatchObject({
    decision: 'allow',
    description: 'Greets somebody',
    arguments: [
      { name: 'nonce', required: true },
      { name: 'who', required: true },
    ],
  });
  const { contents, server, raw } = await agent.readResource('south+shared://readme');
  expect(contents).toEqual([{ uri: 'south+shared://readme', mimeType: 'text/plain', text: 'south:readme' }]);
  expect([server, JSON.parse(raw).contents]).toEqual(['south', contents]);
  for (const name of ['south_greet', 'south.greet']) {
    const { messages } = await agent.getPrompt(name, { nonce: 'n', who: 'Ada' });
    expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'south:n:Ada' } }]);
  }
});

test('arguments are completed, with what is known of the others', async () => {
  const hub = await openLibraryHub({ servers });
  const agent = hub.agent('reader');
  expect(await agent.complete({ prompt: 'north_greet' }, { name: 'who', value: 'x' })).toEqual({
    values: ['x-north-Ada', 'x-north-Grace'],
    total: 2,
    hasMore: false,
  });
  const page = { resource: 'memo://south/{topic}/{page}' };
  const { values } = await agent.complete(page, { name: 'page', value: 'p' }, { topic: 'pears' });
  expect(values).toEqual(['p-pears-1', 'p-pears-2']);
  await expect(agent.complete({ prompt: 'nobody' }, { name: 'a', value: '' })).rejects.toMatchObject({
    code: 'PROMPT_UNKNOWN',
  });
  // @ts-expect-error a program without types
  await expect(agent.complete({ name: 'x' }, { name: 'a', value: '' })).rejects.toMatchObject({ code: 'USAGE' });
});

test.each(['north', 'south'])(
  verifies('library:subscribe', 'a program hears of changes at %s until it has had enough'),
  async (server) => {
    const hub = await openLibraryHub({ servers });
    const agent = hub.agent('reader');
    const uri = `memo://${server}/note`;
    const heard: string[] = [];
    const end = await agent.subscribe(uri, (changed) => {
      heard.push(changed);
      throw new Error('a defect of the program');
    });
    await agent.call(`${server}.touch`, { nonce: 'a', uri });
    await eventually(() => heard.length > 0 || undefined, 'the change');
    end();
    end();
    const later: string[] = [];
    await agent.subscribe(uri, (changed) => later.push(changed));
    await agent.call(`${server}.touch`, { nonce: 'b', uri });
    await eventually(() => later.length > 0 || undefined, 'the second change');
    expect([heard, later]).toEqual([[uri], [uri]]);
    await expect(agent.subscribe('memo://nobody', () => {})).rejects.toMatchObject({ code: 'RESOURCE_UNKNOWN' });
  },
);

test(verifies('library:resources', 'failures are those of calls, and on the ledger like them'), async () => {
  const workspace = await openWorkspace({
    servers: { ...servers, gone: broken },
    policies: { tools: { 'north.prompt:plain': 'require-approval' } },
  });
  const hub = await createHub({ workspace, env: { PATH: process.env.PATH } });
  onTestFinished(() => hub.close());
  const agent = hub.agent('reader');
  const codes = [
    agent.readResource('memo://nobody'),
    agent.getPrompt('nobody'),
    agent.getPrompt('north.plain'),
    agent.getPrompt('north.greet', { nonce: 'only' }),
    agent.readResource('memo://north/note', { signal: AbortSignal.abort() }),
    agent.resources({ deadlineMs: -1 }),
    agent.getPrompt('north.greet', { who: 1n as unknown as string }),
  ].map((work) => work.then(String, ({ code }: { code: unknown }) => code));
  expect(await Promise.all(codes)).toEqual([
    'RESOURCE_UNKNOWN',
    'PROMPT_UNKNOWN',
    'APPROVAL_REQUIRED',
    'UPSTREAM_FAILED',
    'CANCELLED',
    'USAGE',
    'ARGUMENTS_INVALID',
  ]);
  const late = agent.call('north.hang', { nonce: 'x' }, { deadlineMs: 50 });
  await expect(late).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT', message: expect.stringContaining('50 ms') });
  const lines = (await readCalls(ledgerOf(workspace))).map(({ tool, outcome }) => `${tool} ${outcome}`);
  expect(lines).toEqual(
    expect.arrayContaining([
      'resource:memo://nobody unknown_tool',
      'prompt:nobody unknown_tool',
      'prompt:plain pending',
    ]),
  );
});
