import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import type { Catalog } from '../../../src/domain/index.ts';
import type { UpstreamHandles } from '../../../src/upstream/index.ts';
import { openStage, type Stage, stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { viewOf } from '../../support/views.ts';
import { eventually } from '../../support/within.ts';

const quadrants = [
  ['legacy', 'stdio'],
  ['legacy', 'http'],
  ['modern', 'stdio'],
  ['modern', 'http'],
] as const;

type Quadrant = (typeof quadrants)[number];

/** A hub before a server that offers all of MCP. */
async function begin(...[era, transport]: Quadrant) {
  const stage = await openStage();
  const args = ['--era', era, '--label', 'up'];
  const fixture = transport === 'http' ? await stage.fixture('matrix.mjs', args) : undefined;
  const up = fixture === undefined ? stdioServer('matrix.mjs', [...args, '--stdio']) : { url: fixture.url };
  await stage.start({ servers: { up } });
  await stage.hub.discover();
  const restart = async (): Promise<void> => {
    if (fixture !== undefined) await fixture.restart();
    else for (const pid of stage.children()) process.kill(pid, 'SIGKILL');
  };
  return { stage, fixture, restart };
}

function serverOf(stage: Stage): UpstreamHandles {
  const [entry] = viewOf(stage.hub).entries.values();
  if (entry === undefined) throw new Error('no tool, hence no server');
  return entry;
}

function catalogOf(stage: Stage): Catalog {
  const { catalog } = serverOf(stage).control;
  if (catalog === undefined) throw new Error('nothing is known of the server');
  return catalog;
}

function namesIn({ resources, templates, prompts }: Catalog) {
  return {
    resources: resources.map(({ uri }) => uri),
    templates: templates.map(({ uriTemplate }) => uriTemplate),
    prompts: prompts.map(({ name }) => name),
  };
}

const offered = {
  resources: ['memo://up/note', 'memo://up/bytes', 'shared://readme'],
  templates: ['memo://up/{topic}/{page}'],
  prompts: ['plain', 'greet'],
};

test.each(quadrants)(
  verifies('upstream:lists', 'all that a %s server over %s has, and what comes later'),
  async (...quadrant) => {
    const { stage } = await begin(...quadrant);
    expect(namesIn(catalogOf(stage))).toEqual(offered);
    expect(catalogOf(stage).abilities).toEqual({
      resources: true,
      subscriptions: true,
      prompts: true,
      completions: true,
      logging: true,
      tasks: false,
    });
    expect(catalogOf(stage).warnings).toEqual([]);
    for (const kind of ['prompt', 'resource']) await stage.say('up_grow', { nonce: 'n', kind, name: `new-${kind}` });
    await eventually(() => {
      const { resources, prompts } = namesIn(catalogOf(stage));
      return prompts.includes('new-prompt') && resources.includes('grown://up/new-resource') ? true : undefined;
    }, 'what was added');
  },
);

test(verifies('upstream:lists', 'it is known in the next life of the hub, before the server is'), async () => {
  const { stage, fixture } = await begin('modern', 'http');
  const before = catalogOf(stage);
  await stage.stop();
  await fixture?.stop();
  await stage.start({ servers: { up: { url: fixture?.url } } });
  expect(catalogOf(stage)).toEqual(before);
});

test('server-everything, as it comes from its authors', async () => {
  const stage = await openStage();
  const program = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
  await stage.start({ servers: { all: { command: process.execPath, args: [program, 'stdio'] } } });
  await stage.hub.discover();
  const { resources, templates, prompts, abilities, warnings } = catalogOf(stage);
  expect([resources.length, templates.length, prompts.length].every((count) => count > 0)).toBe(true);
  expect(abilities).toMatchObject({ resources: true, subscriptions: true, prompts: true });
  expect(warnings).toEqual([]);
  const { dispatch } = serverOf(stage);
  const [first] = resources;
  expect(await dispatch.subscribe(await dispatch.connect(), first?.uri ?? '').reply).toMatchObject({ kind: 'result' });
});

/** Has a tool, is silent about its resources and fails over its prompts. */
const halfBroken = `
  const capabilities = { tools: {}, resources: {}, prompts: {} };
  const answers = {
    initialize: { result: { protocolVersion: '2025-06-18', capabilities, serverInfo: { name: 'half', version: '1' } } },
    'tools/list': { result: { tools: [{ name: 'well', inputSchema: { type: 'object' } }] } },
    'resources/templates/list': { error: { code: -32601, message: 'Method not found' } },
    'prompts/list': { error: { code: -32603, message: 'no database' } },
    'server/discover': { error: { code: -32601, message: 'Method not found' } },
  };
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    if (answers[method]) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answers[method] }));
  });`;

test('lists that fail or never come cost a server nothing but themselves', async () => {
  const stage = await openStage();
  await stage.start({ servers: { half: { command: process.execPath, args: ['-e', halfBroken] } } });
  const discovered = stage.hub.discover();
  await stage.until('half', 'connected');
  await stage.hurry(discovered);
  expect(await stage.names()).toEqual(['half_well']);
  expect(catalogOf(stage).warnings).toEqual([
    expect.stringMatching(/^resources\/list failed: .* did not answer/),
    'resources/templates/list failed: Method not found',
    'prompts/list failed: no database',
  ]);
  expect(stage.status('half')).toMatchObject({ state: 'connected', error: undefined });
});

const [note, readme] = ['memo://up/note', 'shared://readme'] as const;

function listen(stage: Stage): string[] {
  const heard: string[] = [];
  for (const uri of [note, readme]) {
    serverOf(stage).dispatch.onUpdated(uri, { client: heard, updated: (changed) => heard.push(changed) > 0 });
  }
  return heard;
}

async function watch(stage: Stage, uri: string) {
  const { dispatch } = serverOf(stage);
  return dispatch.subscribe(await dispatch.connect(), uri).reply;
}

async function touch(stage: Stage, uri: string): Promise<void> {
  await stage.say('up_touch', { nonce: 'n', uri });
}

test.each(quadrants)(
  verifies(
    'upstream:subscriptions',
    'changes of a resource of a %s server over %s are heard while somebody watches it',
  ),
  async (...quadrant) => {
    const { stage } = await begin(...quadrant);
    const heard = listen(stage);
    for (const uri of [note, note, readme]) expect(await watch(stage, uri)).toMatchObject({ kind: 'result' });
    await touch(stage, note);
    await eventually(() => heard.includes(note), 'the change');
    serverOf(stage).dispatch.unsubscribe(note);
    heard.length = 0;
    await touch(stage, note);
    await eventually(() => heard.includes(note), 'the change, for the one who stayed');
    serverOf(stage).dispatch.unsubscribe(note);
    await eventually(async () => {
      heard.length = 0;
      await touch(stage, note);
      await touch(stage, readme);
      await eventually(() => heard.includes(readme), 'the change of the other one');
      return heard.includes(note) ? undefined : true;
    }, 'silence about what nobody watches');
  },
);

test.each(quadrants)(
  verifies('upstream:subscriptions', 'a %s server over %s that comes back is asked again, and what was missed is told'),
  async (...quadrant) => {
    const { stage, restart } = await begin(...quadrant);
    const heard = listen(stage);
    for (const uri of [note, readme]) await watch(stage, uri);
    await restart();
    await eventually(() => heard.includes(note) && heard.includes(readme), 'what may have been missed');
    heard.length = 0;
    await touch(stage, note);
    await eventually(() => heard.includes(note), 'a change after the restart');
  },
);
