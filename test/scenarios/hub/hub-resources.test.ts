import { expect, test } from 'vitest';
import type { CallRequest } from '../../../src/calls/index.ts';
import { openStage, type Stage, stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { viewOf } from '../../support/views.ts';

const matrix = (label: string, era: string) => stdioServer('matrix.mjs', ['--era', era, '--label', label, '--stdio']);

const servers = { north: matrix('north', 'legacy'), south: matrix('south', 'modern') };

test(
  verifies(
    'view:resources',
    'of real servers in both eras: reading, prompts and completion, with the ledger as witness',
  ),
  async () => {
    const stage = await begin({ servers });
    expect(await ask(stage, 'resource', 'shared://readme')).toMatchObject({ contents: [{ text: 'north:readme' }] });
    expect(await ask(stage, 'resource', 'south+shared://readme')).toMatchObject({
      contents: [{ text: 'south:readme' }],
    });
    expect(await ask(stage, 'resource', 'memo://south/a/1')).toMatchObject({ contents: [{ text: 'south:a:1' }] });
    expect(await ask(stage, 'prompt', 'south_greet', { nonce: 'n', who: 'me' })).toMatchObject({
      messages: [{ content: { text: 'south:n:me' } }],
    });
    const topic = { argument: { name: 'topic', value: 'x' } };
    expect(await ask(stage, 'completion', 'resource:memo://north/{topic}/{page}', topic)).toMatchObject({
      completion: { values: ['x-north-apples', 'x-north-pears'] },
    });
    expect((await stage.ledger()).map(({ server, tool, method, outcome }) => [server, tool, method, outcome])).toEqual([
      ['north', 'resource:shared://readme', 'resources/read', 'ok'],
      ['south', 'resource:shared://readme', 'resources/read', 'ok'],
      ['south', 'resource:memo://south/a/1', 'resources/read', 'ok'],
      ['south', 'prompt:greet', 'prompts/get', 'ok'],
      ['north', 'resource:memo://north/{topic}/{page}', 'completion/complete', 'ok'],
    ]);
  },
);

test(
  verifies('view:resources-hidden', 'what a rule denies is unknown to the agent, and explained to the operator'),
  async () => {
    const tools = {
      'north.resource:memo://north/secret/*': 'deny',
      'north.prompt:great': 'deny',
      'south.resource:*': 'deny',
      'south.prompt:gr*': 'deny',
    };
    const stage = await begin({ servers, policies: { tools } });
    const view = viewOf(stage.hub);
    expect(names(view.resourcesText, 'uri')).toEqual(['memo://north/bytes', 'memo://north/note', 'shared://readme']);
    expect(names(view.templatesText, 'uriTemplate')).toEqual(['memo://north/{topic}/{page}']);
    expect(names(view.promptsText, 'name')).toEqual(['north_greet', 'north_plain', 'south_plain']);
    for (const uri of [
      'memo://north/secret/1',
      'memo://north/a/../secret/1',
      'south+shared://readme',
      'south+memo://south/note',
    ]) {
      await expect(ask(stage, 'resource', uri), uri).rejects.toMatchObject({ code: 'RESOURCE_UNKNOWN' });
    }
    await expect(ask(stage, 'prompt', 'south_greet')).rejects.toMatchObject({ code: 'PROMPT_UNKNOWN' });
    const reason = (server: string, what: string) => stage.hub.explain(['tester'], server, what).reason;
    expect(reason('north', 'resource:memo://north/a/../secret/1')).toMatchObject({
      pattern: 'north.resource:memo://north/secret/*',
    });
    expect(reason('south', 'prompt:greet')).toMatchObject({ pattern: 'south.prompt:gr*' });
    expect(stage.hub.problems().map(({ message }) => message)).toEqual([
      'A rule names "north.prompt:great", which server north does not have.',
    ]);
  },
);

test(verifies('names:order', 'a URI that two servers have is of the first in the configuration'), async () => {
  const stage = await begin({ servers });
  const uris = (): unknown => names(viewOf(stage.hub).resourcesText, 'uri');
  expect(uris()).toContain('south+shared://readme');
  expect(await ask(stage, 'resource', 'shared://readme')).toMatchObject({ contents: [{ text: 'north:readme' }] });
  await stage.stop();
  await stage.start({ servers: { south: servers.south, north: servers.north } });
  await stage.hub.discover();
  expect(uris()).toContain('north+shared://readme');
  expect(await ask(stage, 'resource', 'shared://readme')).toMatchObject({ contents: [{ text: 'south:readme' }] });
});

async function begin(config: Parameters<Stage['start']>[0]): Promise<Stage> {
  const stage = await openStage();
  await stage.start(config);
  // The later one answers first: that gives it nothing.
  await stage.hub.discover(['south']);
  await stage.hub.discover(['north']);
  return stage;
}

async function ask(stage: Stage, kind: CallRequest['kind'], name: string, args: object = {}): Promise<unknown> {
  const { result } = stage.hub.call({
    kind,
    caller: stage.hub.callerFor({ agent: 'tester' }),
    name,
    argumentsText: JSON.stringify(args),
    args,
    meta: '',
    channel: undefined,
  });
  const answer = await result;
  if (answer.kind === 'failed') throw answer.error;
  return answer.kind === 'result' ? answer.result.value : answer;
}

function names(text: string, member: string): unknown[] {
  return (JSON.parse(text) as Record<string, unknown>[]).map((definition) => definition[member]);
}
