import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { codeOf, openStage, stdioServer } from '../../support/hub.ts';
import { layoutOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { settledView, viewOf } from '../../support/views.ts';
import { eventually, within } from '../../support/within.ts';

test('the first list comes from catalogs of an earlier process, and nothing is started for it', async () => {
  const stage = await openStage();
  const config = { servers: { up: stdioServer('echo-stdio.mjs'), web: { url: 'http://127.0.0.1:9/mcp' } } };
  await stage.start(config);
  const before = await settledView(stage.hub);
  await stage.stop();
  await stage.start(config);
  const first = viewOf(stage.hub);
  expect(first.toolsText).toBe(before.toolsText);
  expect(first.undiscovered.map(({ spec }) => spec.name)).toEqual(['web']);
  expect(stage.children()).toEqual([]);
  expect(stage.status('up')).toMatchObject({ state: 'idle', tools: 9, protocolVersion: '2025-11-25' });
  expect(await stage.say('up_echo', { message: 'hi' })).toBe('hi');
});

test(
  verifies('view:cold-list', 'the first list waits briefly for unseen servers; those that are late follow'),
  async () => {
    const stage = await openStage();
    await stage.start({ servers: { late: stdioServer('bad.mjs', ['slow-start']), up: stdioServer('echo-stdio.mjs') } });
    const renewed: string[][] = [];
    stage.hub.lists.onListsChange(() => renewed.push([...viewOf(stage.hub).entries.keys()]));
    const hasty = await settledView(stage.hub, 'tester', 1);
    expect(hasty.undiscovered.map(({ spec }) => spec.name)).toContain('late');
    const first = await within(settledView(stage.hub), 'the first list', 25_000);
    expect([...first.entries.keys()]).toEqual(expect.arrayContaining(['up_echo', 'late_echo']));
    expect(renewed.at(-1)).toContain('late_echo');
    expect(await stage.say('late_echo', { message: 'hi' })).toBe('hi');
  },
);

test('a server that was late once is not waited for again', async () => {
  const stage = await openStage();
  await stage.start({
    servers: { hung: stdioServer('bad.mjs', ['never-answers']), up: stdioServer('echo-stdio.mjs') },
  });
  await eventually(async () => ((await stage.names()).includes('up_echo') ? true : undefined), 'the quick one');
  await stage.hurry(settledView(stage.hub));
  const timers = stage.clock.waiting;
  for (let time = 0; time < 50; time++) expect(await stage.names()).toContain('up_echo');
  expect(stage.clock.waiting).toBeLessThanOrEqual(timers + 1);
});

test(
  verifies('contact:call', 'a call to a server that is still starting waits for it, and is never an unknown tool'),
  async () => {
    const stage = await openStage();
    const quick = { limits: { timeout_s: 1 } };
    await stage.start({
      servers: {
        late: stdioServer('bad.mjs', ['slow-start']),
        hung: stdioServer('bad.mjs', ['never-answers'], quick),
        other: stdioServer('echo-stdio.mjs'),
      },
      agents: { tester: { servers: ['late', 'hung'] } },
    });
    expect(await stage.say('late_echo', { message: 'hi' })).toBe('hi');
    expect(codeOf(await stage.call('late_nothing'))).toBe('TOOL_UNKNOWN');
    expect(await stage.call('hung_echo')).toMatchObject({
      error: {
        code: 'UPSTREAM_UNAVAILABLE',
        row: { retryable: true },
        details: { server: 'hung', state: 'connecting' },
      },
    });
    // Whose servers they are not learn nothing of them.
    expect(codeOf(await stage.call('other_echo'))).toBe('TOOL_UNKNOWN');
    const begun = stage.begin('hung_echo');
    begun.call.cancel('by the client');
    expect(codeOf(await begun.result)).toBe('CANCELLED');
    expect((await stage.ledger()).map(({ outcome }) => outcome)).toEqual([
      'ok',
      'unknown_tool',
      'unavailable',
      'unknown_tool',
      'cancelled',
    ]);
  },
);

test(verifies('view:exclude-undiscovered', 'an exclude list against unknown tools yields nothing'), async () => {
  const stage = await openStage();
  await stage.start({
    servers: { hung: { ...stdioServer('bad.mjs', ['never-answers']), excludeTools: ['add'] } },
    agents: { tester: { servers: ['hung'], tools: { hung: { exclude: ['fail'] } } } },
  });
  expect(await stage.names()).toEqual([]);
  expect(codeOf(await stage.hurry(stage.call('hung_echo', { message: 'hi' })))).toBe('UPSTREAM_UNAVAILABLE');
  expect(await stage.ledger()).toMatchObject([{ server: null, tool: 'hung_echo', outcome: 'unavailable' }]);
});

test('the same list against known tools leaves the others', async () => {
  const stage = await openStage();
  await stage.start({
    servers: { up: { ...stdioServer('echo-stdio.mjs'), excludeTools: ['add'] } },
    agents: { tester: { servers: ['up'], tools: { up: { exclude: ['fail'] } } } },
  });
  const names = await stage.names();
  expect(names).toHaveLength(7);
  expect(names).not.toContain('up_add');
  expect(names).not.toContain('up_fail');
});

test('a configuration that cannot be trusted starts nothing', async () => {
  const stage = await openStage();
  await expect(stage.start('servers: [', { watch: true })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  expect(stage.clock.waiting).toBe(0);
});

test('a catalog that cannot be read is forgotten, not fatal', async () => {
  const stage = await openStage();
  const config = { servers: { up: stdioServer('echo-stdio.mjs') } };
  await stage.start(config);
  await stage.names();
  await stage.stop();
  await writeFile(layoutOf(stage.workspace).catalog, '{"version":1,"servers":[{"name":"up"');
  await stage.start(config);
  expect(stage.status('up').tools).toBeUndefined();
  expect(await stage.names()).toContain('up_echo');
});

test('a definition with strange members does not break the list of everybody', async () => {
  const stage = await openStage();
  const script = `
    let rest = '';
    const say = (id, member) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...member }) + '\\n');
    process.stdin.on('data', (chunk) => {
      const lines = (rest + chunk).split('\\n');
      rest = lines.pop();
      for (const line of lines) {
        const { id, method } = JSON.parse(line);
        if (method === 'server/discover') say(id, { error: { code: -32601, message: 'no' } });
        if (method === 'initialize') say(id, { result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } } });
        if (method === 'tools/list') process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":{"tools":[{"0":"first","__proto__":{"a":1},"name":"odd","inputSchema":{"type":"object"}}]}}\\n');
      }
    }).on('end', () => process.exit(0));`;
  await stage.start({
    servers: { odd: { command: process.execPath, args: ['-e', script] }, up: stdioServer('echo-stdio.mjs') },
  });
  const { toolsText } = await settledView(stage.hub);
  const names = (JSON.parse(toolsText) as { name: string }[]).map(({ name }) => name); // a list of tools
  expect(names).toEqual(expect.arrayContaining(['odd', 'up_echo']));
});
