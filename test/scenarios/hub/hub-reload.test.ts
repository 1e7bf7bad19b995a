// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { mkdir, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { openStage, type Stage, stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, within } from '../../support/within.ts';

const echo = stdioServer('echo-stdio.mjs');
const other = stdioServer('echo-stdio.mjs', [], { env: { FLAVOUR: 'other' } });

/** Writes the file as an editor would, and waits until the hub has applied the change. */
async function edit(stage: Stage, config: Parameters<Stage['configure']>[0]): Promise<void> {
  const taken = new Promise<void>((resolve) => {
    const stop = stage.hub.onReload(() => {
      stop();
      resolve();
    });
  });
  await stage.configure(config);
  await within(taken, 'the change to be taken up');
}

test('servers come and go with the file; one that did not change keeps its process', async () => {
  const stage = await openStage();
  await stage.start({ servers: { stays: echo, goes: echo } }, { watch: true });
  await stage.names();
  const [first, second] = stage.children();
  expect(stage.children()).toHaveLength(2);

  await edit(stage, { servers: { stays: echo, comes: other } });
  const names = await stage.names();
  expect(names).toEqual(expect.arrayContaining(['stays_echo', 'comes_echo']));
  expect(names.filter((name) => name.startsWith('goes_'))).toEqual([]);
  expect(await stage.say('comes_env', { name: 'FLAVOUR' })).toBe('other');
  await eventually(() => (stage.children().length === 2 ? true : undefined), 'the old process to end');
  const kept = stage.children().filter((pid) => pid === first || pid === second);
  expect(kept).toHaveLength(1);
  expect(stage.hub.status().map(({ name, state }) => [name, state])).toEqual([
    ['stays', 'connected'],
    ['comes', 'connected'],
  ]);
});

test('a changed environment is a new process, changed limits and filters are not', async () => {
  const stage = await openStage();
  await stage.start({ servers: { up: echo } });
  await stage.names();
  const [pid] = stage.children();

  await stage.configure({ servers: { up: { ...echo, limits: { concurrency: 1 }, excludeTools: ['add'] } } });
  await stage.hub.reload();
  expect(stage.children()).toEqual([pid]);
  expect(await stage.names()).not.toContain('up_add');
  const running = stage.begin('up_slow', { ms: 60_000 });
  expect(await stage.call('up_echo')).toMatchObject({ error: { code: 'OVERLOADED' } });
  running.call.cancel('enough');
  await running.result;

  await stage.configure({ servers: { up: other } });
  await stage.hub.reload();
  expect(await stage.names()).toContain('up_add');
  expect(await stage.say('up_env', { name: 'FLAVOUR' })).toBe('other');
  await eventually(() => (stage.children().length === 1 ? true : undefined), 'the old process to end');
  expect(stage.children()).not.toEqual([pid]);
});

test(
  verifies('config:reload', 'calls in flight finish on what they started with, new ones get the new view'),
  async () => {
    const stage = await openStage();
    const url = (await stage.fixture('echo-http.mjs', ['--era', 'legacy', '--sessions'])).url;
    await stage.start({ servers: { removed: echo, changed: echo, web: { url } } });
    await stage.names();
    const seen = new Set<string>();
    const servers = ['removed', 'changed', 'web'];
    const calls = servers.map((server) =>
      stage.begin(`${server}_slow`, { ms: 1500 }, { onProgress: () => seen.add(server) }),
    );
    await eventually(() => (seen.size === 3 ? true : undefined), 'all calls to run');
    await stage.configure({ servers: { changed: other } });
    await stage.hub.reload();
    expect((await stage.names()).every((name) => name.startsWith('changed_'))).toBe(true);
    expect(await stage.say('changed_env', { name: 'FLAVOUR' })).toBe('other');
    expect(await stage.call('removed_echo', { message: 'hi' })).toMatchObject({ error: { code: 'TOOL_UNKNOWN' } });
    const results = await Promise.all(calls.map(({ result }) => result));
    expect(results.map(({ kind }) => kind)).toEqual(['result', 'result', 'result']);
    await eventually(() => (stage.children().length === 1 ? true : undefined), 'the old processes to end');
  },
);

test('rules and routes change without touching a process', async () => {
  const stage = await openStage();
  await stage.start({ servers: { up: echo }, policies: { tools: { 'up.*': 'deny', 'up.echo': 'allow' } } });
  expect(await stage.names()).toEqual(['up_echo']);
  const pids = stage.children();
  let renewed = 0;
  stage.hub.lists.onListsChange(() => renewed++);
  await stage.configure({ servers: { up: echo }, policies: { tools: { 'up.echo': 'deny' } } });
  await stage.hub.reload();
  expect(renewed).toBeGreaterThan(0);
  expect(await stage.names()).toContain('up_add');
  expect(await stage.names()).not.toContain('up_echo');
  await stage.configure({ servers: { up: echo }, agents: { other: { servers: ['up'] } } });
  await stage.hub.reload();
  expect(await stage.names('tester')).toEqual([]);
  expect(await stage.names('other')).toContain('up_echo');
  expect(stage.children()).toEqual(pids);
});

test('another way of naming renames everything', async () => {
  const stage = await openStage();
  await stage.start({ servers: { up: echo } });
  expect(await stage.names()).toContain('up_echo');
  await stage.configure({ servers: { up: echo }, naming: 'preserved' });
  await stage.hub.reload();
  expect(await stage.names()).toContain('echo');
  expect(await stage.say('echo', { message: 'hi' })).toBe('hi');
  expect(await stage.names()).not.toContain('up_echo');
});

test.each([
  ['no YAML at all', 'servers: [', /cannot be parsed/],
  ['an unknown key', '{"servers": {}, "polices": {}}', /polices/],
  ['a rule that nobody understands', '{"servers": {}, "policies": {"tools": {"up.echo": "perhaps"}}}', /Policies/],
])('%s keeps the old configuration and says so', async (_what, text, complaint) => {
  const stage = await openStage();
  await stage.start({ servers: { up: echo } }, { watch: true });
  const before = await stage.names();
  await stage.configure(text);
  const line = await eventually(() => stage.log.find((entry) => entry.includes('config.refused')), 'the refusal');
  expect(line).toMatch(/quartermaster\.yaml/);
  expect(line).toMatch(complaint);
  await expect(stage.hub.reload()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  expect(await stage.names()).toEqual(before);
  expect(await stage.say('up_echo', { message: 'still here' })).toBe('still here');
  await edit(stage, { servers: { new: echo } });
  expect(await stage.names()).toContain('new_echo');
});

test(
  verifies(
    'config:broken-file',
    'a broken file of others denies every tool at the start, and takes nothing away while the hub runs',
  ),
  async () => {
    const stage = await openStage();
    await writeFile(stage.path('.mcp.json'), '{ "mcpServers": [');
    await stage.start({ servers: { up: echo } });
    expect(await stage.call('up_echo', { message: 'hi' })).toMatchObject({ error: { code: 'TOOL_UNKNOWN' } });
    expect(stage.hub.problems()).toMatchObject([{ severity: 'error', file: '.mcp.json', line: 1 }]);

    await writeFile(stage.path('.mcp.json'), JSON.stringify({ mcpServers: { other } }));
    await stage.hub.reload();
    expect(await stage.say('other_env', { name: 'FLAVOUR' })).toBe('other');
    await writeFile(stage.path('.mcp.json'), '{ "mcpServers": [');
    await expect(stage.hub.reload()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    expect(await stage.say('other_env', { name: 'FLAVOUR' })).toBe('other');
  },
);

test('a broken file that restricts lets no hub start', async () => {
  const stage = await openStage();
  await mkdir(stage.path('.squad'));
  await writeFile(stage.path('.squad/mcp-config.json'), '{ "agentServers": [');
  await expect(stage.start({ servers: { up: echo } })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
});

test(
  verifies('config:agent-alone', 'a mistake about one agent costs that agent its tools, and not the hub'),
  async () => {
    const stage = await openStage();
    await mkdir(stage.path('.squad'));
    const squad = (tester: unknown) =>
      writeFile(
        stage.path('.squad/mcp-config.json'),
        JSON.stringify({ servers: { up: echo }, agentServers: { lead: ['up'], tester } }),
      );
    await squad('up');
    const hub = await stage.open();
    expect([await stage.names('lead'), await stage.names('tester')]).toEqual([expect.arrayContaining(['up_echo']), []]);
    expect(hub.problems()).toMatchObject([{ severity: 'error', agent: 'tester', field: 'agentServers.tester' }]);
    await squad(['up']);
    await hub.reload();
    expect(await stage.names('tester')).toContain('up_echo');
    await squad([1]);
    await hub.reload();
    expect([await stage.names('lead'), await stage.names('tester')]).toEqual([expect.arrayContaining(['up_echo']), []]);
  },
);

test('a server that becomes invalid is said to be so, and only it', async () => {
  const stage = await openStage();
  await stage.start({ servers: { up: echo, two: echo, off: { ...echo, enabled: false } } });
  await stage.names();
  await stage.configure({ servers: { up: echo, two: { command: `\${MISSING}` }, off: { ...echo, enabled: false } } });
  await stage.hub.reload();
  expect(stage.hub.status().map(({ name, state }) => [name, state])).toEqual([
    ['up', 'connected'],
    ['two', 'invalid'],
    ['off', 'disabled'],
  ]);
  expect(stage.status('two').error).toMatch(/MISSING/);
  expect(await stage.say('up_echo', { message: 'hi' })).toBe('hi');
  await eventually(() => (stage.children().length === 1 ? true : undefined), 'the invalid one to end');
});

test('many changes at once end with the last one', async () => {
  const stage = await openStage();
  await stage.start({ servers: { up: echo } });
  for (let round = 0; round < 5; round++) {
    await stage.configure({ servers: { [`server${round}`]: echo } });
    void stage.hub.reload();
  }
  await stage.hub.reload();
  expect(stage.hub.status().map(({ name }) => name)).toEqual(['server4']);
  expect(await stage.names()).toContain('server4_echo');
  expect(stage.children()).toHaveLength(1);
});

test(
  verifies('ledger:redaction', 'redaction learning on reload: values of before and of now are in no record'),
  async () => {
    const stage = await openStage();
    const variable = (name: string): string => `\${${name}}`;
    const server = (value: string) => ({
      servers: { up: { ...stdioServer('echo-stdio.mjs'), env: { KEY: value } } },
    });
    await stage.start(server(variable('VALUE')), { env: { ...process.env, VALUE: 'value-of-before' } });
    await stage.names();
    await writeFile(stage.path('.env'), 'VALUE=value-of-now\nPIN=4711\n');
    await stage.configure(server(`${variable('VALUE')}-${variable('PIN')}`));
    await stage.hub.reload();
    const spelled = Buffer.from('user:value-of-before').toString('base64');
    expect(await stage.say('up_echo', { message: `value-of-before value-of-now 4711 ${spelled}` })).toContain(
      'value-of-before',
    );
    const text = JSON.stringify(await stage.ledger());
    for (const value of ['value-of-before', 'value-of-now', '4711', spelled.slice(8, -4)])
      expect(text).not.toContain(value);
    expect(text).toContain('[redacted]');
  },
);

test(
  verifies('secrets:connection-key', 'a rotated secret of a program restarts it, one in a header does not'),
  async () => {
    const stage = await openStage();
    const http = await stage.fixture('echo-http.mjs');
    const servers = {
      child: stdioServer('echo-stdio.mjs', [], { env: { API_TOKEN: '${ROTATED}' } }),
      remote: { url: http.url, headers: { 'X-Api-Key': '${ROTATED}' } },
    };
    await writeFile(stage.path('.env'), 'ROTATED=first-secret-0001\n');
    await stage.start({ servers });
    await stage.names();
    const [pid] = stage.children();
    expect(await stage.say('child_env', { name: 'API_TOKEN' })).toBe('first-secret-0001');
    const before = connectionKeys(stage);
    const remote = stage.status('remote');

    await writeFile(stage.path('.env'), 'ROTATED=second-secret-22\n');
    await stage.hub.reload();
    expect(await stage.say('child_env', { name: 'API_TOKEN' })).toBe('second-secret-22');
    await eventually(() => (stage.children().includes(pid ?? 0) ? undefined : true), 'the old process to end');
    expect(stage.status('remote').state).toBe(remote.state);
    expect(connectionKeys(stage)).toEqual(before);
  },
);

function connectionKeys({ hub }: Stage): (string | undefined)[] {
  return [...hub.configuration.servers.values()].map((each) =>
    each.kind === 'ready' ? each.spec.connectionKey : undefined,
  );
}
