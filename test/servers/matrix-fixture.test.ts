import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixturePath, startHttpFixture } from '../support/fixture-servers.ts';
import { type Endpoint, type Era, type MatrixClient, openMatrixClient } from '../support/matrix-clients.ts';
import { eventually, within } from '../support/within.ts';

/** The server and the clients of the matrix, without anything between them. */
const eras: readonly Era[] = ['legacy', 'modern'];
const cases = eras.flatMap((era) => (['HTTP', 'stdio'] as const).map((kind) => ({ era, kind })));

interface Server {
  readonly endpoint: Endpoint;
  stop(): Promise<void>;
}

async function serve(era: Era, kind: 'HTTP' | 'stdio'): Promise<Server> {
  const args = ['--era', era, '--label', 'north'];
  if (kind === 'stdio') {
    const endpoint = { command: process.execPath, args: [fixturePath('matrix.mjs'), ...args, '--stdio'] };
    return { endpoint, stop: async () => {} };
  }
  const fixture = await startHttpFixture('matrix.mjs', args);
  return { endpoint: { url: fixture.url, token: 'any' }, stop: () => fixture.stop() };
}

describe.each(cases)('$era over $kind', ({ era, kind }) => {
  let server: Server;
  let ann: MatrixClient;

  beforeAll(async () => {
    server = await serve(era, kind);
    ann = await openMatrixClient('ann', era, server.endpoint);
  });

  afterAll(async () => {
    await ann?.close();
    await server?.stop();
  });

  test('refuses the other era', async () => {
    const [other, refusal] =
      era === 'legacy'
        ? (['modern', /did not offer pinned protocol version/] as const)
        : (['legacy', /Unsupported protocol version: 2025-11-25/] as const);
    await expect(openMatrixClient('bob', other, server.endpoint)).rejects.toThrow(refusal);
  });

  test('tools and structured content', async () => {
    expect(await ann.say('echo', { nonce: 'n1' })).toBe('north:n1');
    expect((await ann.call('structured', { nonce: 'n2' })).structuredContent).toEqual({
      label: 'north',
      nonce: 'n2',
      length: 2,
    });
  });

  test('progress', async () => {
    expect(await ann.say('steps', { nonce: 'n3', count: 3 })).toBe('north:n3');
    expect(ann.records.progress).toEqual(['north:n3:1', 'north:n3:2', 'north:n3:3']);
  });

  test('cancellation', async () => {
    const enough = new AbortController();
    const hanging = ann.call('hang', { nonce: 'n4' }, enough.signal);
    await eventually(() => ann.records.progress.includes('north:n4:hangs') || undefined, 'the call to hang');
    enough.abort();
    await expect(within(hanging, 'the end')).rejects.toThrow();
    await eventually(async () => {
      const { nonces } = JSON.parse(await ann.say('cancelled', {})) as { nonces: string[] };
      return nonces.includes('n4') || undefined;
    }, 'the server to hear of it');
  });

  test('questions by form, accepted, declined and cancelled', async () => {
    const { questions } = ann.records;
    questions.length = 0;
    expect(await ann.say('ask_form', { nonce: 'n5' })).toBe('north:n5:accept:ann read north:n5:form');
    expect(await ann.say('ask_form', { nonce: 'n5-decline' })).toBe('north:n5-decline:decline');
    expect(await ann.say('ask_form', { nonce: 'n5-cancel' })).toBe('north:n5-cancel:cancel');
    expect(questions).toEqual(['north:n5:form', 'north:n5-decline:form', 'north:n5-cancel:form']);
  });

  test('questions by URL, to the model, for roots, and two in a row', async () => {
    const { questions, completed } = ann.records;
    questions.length = 0;
    expect(await ann.say('ask_url', { nonce: 'n6' })).toBe('north:n6:accept');
    expect(await ann.say('ask_sampling', { nonce: 'n7' })).toBe('north:n7:ann:ann read north:n7:sampling');
    expect(await ann.say('ask_roots', { nonce: 'n8' })).toBe('north:n8:file:///ann');
    const second = 'north:n9:second after accept:ann read north:n9:first';
    expect(await ann.say('ask_twice', { nonce: 'n9' })).toBe(`north:n9:accept:ann read ${second}`);
    expect(questions).toEqual([
      'north:n6:url https://example.com/?for=north:n6',
      'north:n7:sampling',
      'roots',
      'north:n9:first',
      second,
    ]);
    expect(completed).toEqual(era === 'legacy' ? ['north:n6'] : []);
  });

  test('logs from the level that was asked for', async () => {
    const { logs } = ann.records;
    if (era === 'modern') {
      await ann.say('chatty', { nonce: 'unasked' });
      expect(logs).toEqual([]);
    }
    await ann.logFrom('notice');
    await ann.say('chatty', { nonce: 'n10' });
    expect(logs).toEqual(['north:n10:notice', 'north:n10:warning', 'north:n10:error']);
  });

  test('lists that change', async () => {
    await ann.watchLists();
    const { lists } = ann.records;
    for (const kind of ['tool', 'prompt', 'resource']) {
      await ann.say('grow', { nonce: 'n11', kind, name: `new_${kind}` });
      await eventually(() => lists.includes(`${kind}s`) || undefined, `news of ${kind}s`);
    }
    expect(lists).toEqual(['tools', 'prompts', 'resources']);
    expect(await ann.say('new_tool', {})).toBe('north:new_tool');
    expect(await ann.client.getPrompt({ name: 'new_prompt' })).toMatchObject({
      messages: [{ content: { text: 'north:new_prompt' } }],
    });
    const uri = 'grown://north/new_resource';
    expect((await ann.client.listResources()).resources.map((resource) => resource.uri)).toContain(uri);
    expect(await ann.client.readResource({ uri })).toMatchObject({ contents: [{ uri, text: 'north:new_resource' }] });
  });

  test('resources and templates', async () => {
    const { resources } = await ann.client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(
      expect.arrayContaining(['memo://north/note', 'memo://north/bytes', 'shared://readme']),
    );
    const { resourceTemplates } = await ann.client.listResourceTemplates();
    expect(resourceTemplates).toMatchObject([{ uriTemplate: 'memo://north/{topic}/{page}' }]);
    const read = async (uri: string) => (await ann.client.readResource({ uri })).contents[0];
    expect(await read('memo://north/note')).toMatchObject({ text: 'north:note' });
    expect(await read('memo://north/bytes')).toMatchObject({ blob: Buffer.from('north:bytes').toString('base64') });
    expect(await read('shared://readme')).toMatchObject({ text: 'north:readme' });
    expect(await read('memo://north/n12/7')).toMatchObject({ uri: 'memo://north/n12/7', text: 'north:n12:7' });
  });

  test('subscriptions', async () => {
    const { updates } = ann.records;
    await ann.watch('memo://north/note');
    await ann.say('touch', { nonce: 'n13', uri: 'memo://north/bytes' });
    await ann.say('touch', { nonce: 'n13', uri: 'memo://north/note' });
    await eventually(() => updates.length > 0 || undefined, 'the update');
    await ann.unsubscribe('memo://north/note');
    await ann.say('touch', { nonce: 'n13', uri: 'memo://north/note' });
    await ann.watch('memo://north/bytes');
    await ann.say('touch', { nonce: 'n13', uri: 'memo://north/bytes' });
    await eventually(() => updates.length > 1 || undefined, 'the other update');
    expect(updates).toEqual(['memo://north/note', 'memo://north/bytes']);
  });

  test('prompts', async () => {
    const { prompts } = await ann.client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(expect.arrayContaining(['plain', 'greet']));
    expect(await ann.client.getPrompt({ name: 'plain' })).toMatchObject({
      messages: [{ content: { text: 'north:plain' } }],
    });
    const greet = { name: 'greet', arguments: { nonce: 'n14', who: 'Ada' } };
    expect(await ann.client.getPrompt(greet)).toMatchObject({ messages: [{ content: { text: 'north:n14:Ada' } }] });
  });

  test('completion', async () => {
    const template = { type: 'ref/resource', uri: 'memo://north/{topic}/{page}' } as const;
    const complete = async (params: Parameters<typeof ann.client.complete>[0]) =>
      (await ann.client.complete(params)).completion.values;
    expect(await complete({ ref: template, argument: { name: 'topic', value: 'n15' } })).toEqual([
      'n15-north-apples',
      'n15-north-pears',
    ]);
    expect(
      await complete({
        ref: template,
        argument: { name: 'page', value: 'n16' },
        context: { arguments: { topic: 'figs' } },
      }),
    ).toEqual(['n16-figs-1', 'n16-figs-2']);
    const greet = { type: 'ref/prompt', name: 'greet' } as const;
    expect(await complete({ ref: greet, argument: { name: 'who', value: 'n17' } })).toEqual([
      'n17-north-Ada',
      'n17-north-Grace',
    ]);
  });

  test('no unrequested message came', () => {
    expect(ann.records).toMatchObject({ others: [], errors: [] });
  });
});
