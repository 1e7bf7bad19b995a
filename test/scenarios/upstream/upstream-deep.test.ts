import { expect, test } from 'vitest';
import { codeOf, openStage, type Stage, stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';

const transports = ['stdio', 'json', 'stream', 'sse'] as const;

/** By the server's name, the place in which it sends 8,000 brackets. */
const places = {
  greeting: 'initialize',
  tools: 'tools/list',
  resources: 'resources/list',
  templates: 'resources/templates/list',
  prompts: 'prompts/list',
  later: 'later',
  result: 'tools/call',
  error: 'call-error',
  notification: 'notification',
  request: 'request',
};

/** A hub with a good server beside all of these. */
async function besideDeepServers(transport: (typeof transports)[number]): Promise<Stage> {
  const stage = await openStage();
  const servers = await Promise.all(
    Object.entries(places).map(async ([name, place]) => {
      if (transport === 'stdio') return [name, stdioServer('deep.mjs', ['stdio', place])];
      return [name, { url: (await stage.fixture('deep.mjs', [transport, place])).url }];
    }),
  );
  await stage.start({ servers: { ...Object.fromEntries(servers), good: stdioServer('echo-stdio.mjs') } });
  await stage.hub.discover();
  return stage;
}

test.each(transports)(
  verifies('upstream:depth', 'over %s, a message that nests too deep fails its own exchange, wherever it stands'),
  async (transport) => {
    const stage = await besideDeepServers(transport);
    const log = (): string => stage.log.join('\n');

    expect(stage.status('greeting').state, 'a handshake: no connection').not.toBe('connected');
    expect(stage.status('tools'), 'its tools: unknown').toMatchObject({ state: 'connected', tools: undefined });
    expect(stage.status('tools').error).toContain('nested deeper than 512 levels');
    for (const server of ['resources', 'templates', 'prompts'] as const) {
      expect(stage.status(server), 'another list: the tools stay').toMatchObject({ tools: 1, error: undefined });
      expect(log()).toContain(`${places[server]} failed: `);
      expect(await stage.say(`${server}_ping`)).toBe('pong');
    }
    for (const server of ['result', 'error']) {
      expect(codeOf(await stage.call(`${server}_ping`)), 'an answer: the call ends').toBe('UPSTREAM_GARBLED');
      expect(stage.status(server)).toMatchObject({ state: 'connected', tools: 1 });
    }
    for (const server of ['notification', 'request']) {
      expect(await stage.say(`${server}_ping`), 'in between: it is dropped').toBe('pong');
    }
    await eventually(
      () => stage.log.find((line) => line.includes('upstream.discovery-failed') && line.includes('"later"')),
      'the second list to fail',
    );
    expect(stage.status('later'), 'a changed list: the last good one stays').toMatchObject({ tools: 1 });
    expect(await stage.say('later_ping')).toBe('pong');
    expect(await stage.say('good_echo', { message: 'still here' })).toBe('still here');
    expect(log()).not.toContain('_defect');
  },
);
