import { describe, expect, test } from 'vitest';
import { codeOf, openStage, type Stage, stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, within } from '../../support/within.ts';

interface Quadrant {
  readonly transport: 'stdio' | 'http';
  readonly version: string;
  readonly session: unknown;
  /** The echo server, with files in the workspace for what it heard. */
  echo(stage: Stage): Promise<object>;
  /** The server whose list grows and comes in pages. */
  growing(stage: Stage): Promise<object>;
}

const logs = (stage: Stage) => ({ CALL_LOG: stage.path('calls.log'), CANCEL_LOG: stage.path('cancels.log') });

function overStdio(file: string, growingArgs: readonly string[], version: string): Quadrant {
  return {
    transport: 'stdio',
    version,
    session: null,
    echo: async (stage) => stdioServer(file, [], { env: logs(stage) }),
    growing: async () => stdioServer('tools-change.mjs', growingArgs),
  };
}

function overHttp(
  args: readonly string[],
  growingArgs: readonly string[],
  version: string,
  session: unknown,
): Quadrant {
  return {
    transport: 'http',
    version,
    session,
    echo: async (stage) => ({ url: (await stage.fixture('echo-http.mjs', args, logs(stage))).url }),
    growing: async (stage) => ({ url: (await stage.fixture('tools-change.mjs', ['--http', '0', ...growingArgs])).url }),
  };
}

const quadrants = {
  'stdio, 2025': overStdio('echo-stdio.mjs', [], '2025-11-25'),
  'stdio, 2026': overStdio('echo-modern.mjs', ['--modern'], '2026-07-28'),
  'HTTP, 2025': overHttp(['--era', 'legacy', '--sessions'], [], '2025-11-25', expect.stringMatching(/^[0-9a-f-]{36}$/)),
  'HTTP, 2026': overHttp(['--era', 'modern'], ['--modern'], '2026-07-28', null),
  'HTTP by streams, 2025': overHttp(['--era', 'legacy', '--sse'], [], '2025-11-25', null),
  'HTTP by streams, 2026': overHttp(['--era', 'modern', '--sse'], ['--modern'], '2026-07-28', null),
};

test(verifies('upstream:stdio-legacy', 'a stdio server of 2025'), () => listAndCall(quadrants['stdio, 2025']));
test(verifies('upstream:stdio-modern', 'a stdio server of 2026'), () => listAndCall(quadrants['stdio, 2026']));
test(verifies('upstream:http-legacy', 'an HTTP server of 2025'), () => listAndCall(quadrants['HTTP, 2025']));
test(verifies('upstream:http-modern', 'an HTTP server of 2026'), () => listAndCall(quadrants['HTTP, 2026']));

async function listAndCall(quadrant: Quadrant): Promise<void> {
  const stage = await openStage();
  await stage.start({ servers: { up: await quadrant.echo(stage) } });
  expect(stage.status('up')).toMatchObject({ state: 'idle', tools: undefined });
  expect(await stage.names()).toEqual(expect.arrayContaining(['up_add', 'up_echo', 'up_raw_args', 'up_slow']));
  expect(await stage.say('up_add', { a: 2, b: 40 })).toBe('42');
  expect(stage.status('up')).toMatchObject({
    state: 'connected',
    transport: quadrant.transport,
    protocolVersion: quadrant.version,
    tools: quadrant.transport === 'stdio' ? 9 : 8,
    error: undefined,
  });
  expect(await stage.ledger()).toMatchObject([
    {
      server: 'up',
      tool: 'add',
      args: { a: 2, b: 40 },
      status: 'ok',
      outcome: 'ok',
      transport: quadrant.transport,
      protocol_version: quadrant.version,
      session_id: quadrant.session,
      retries: 0,
    },
  ]);
}

describe.each(Object.entries(quadrants))('%s', (_name, quadrant) => {
  test('progress arrives while the call runs', async () => {
    const stage = await openStage();
    await stage.start({ servers: { up: await quadrant.echo(stage) } });
    const seen: unknown[] = [];
    expect(await stage.say('up_slow', { ms: 50 }, { onProgress: ({ progress }) => seen.push(progress) })).toBe(
      'waited 50 ms',
    );
    expect(seen).toEqual([1, 2, 3, 4, 5]);
  });

  test('a cancelled call is cancelled at the server', async () => {
    const stage = await openStage();
    await stage.start({ servers: { up: await quadrant.echo(stage) } });
    let running = false;
    const onProgress = (): void => {
      running = true;
    };
    const { call, result } = stage.begin('up_slow', { ms: 60_000 }, { onProgress });
    await eventually(() => (running ? true : undefined), 'the call to run');
    call.cancel('the client asked for it');
    expect(codeOf(await within(result, 'the end'))).toBe('CANCELLED');
    await eventually(async () => (await stage.lines('cancels.log'))[0], 'the server to hear of it');
    expect(await stage.lines('cancels.log')).toMatchObject([{ tool: 'slow' }]);
    expect(await stage.ledger()).toMatchObject([{ status: 'error', outcome: 'cancelled' }]);
    expect(await stage.say('up_echo', { message: 'still here' })).toBe('still here');
  });

  test(verifies('upstream:tool-error', "a tool's own error is its answer"), async () => {
    const stage = await openStage();
    await stage.start({ servers: { up: await quadrant.echo(stage) } });
    for (let time = 0; time < 4; time++) {
      expect(await stage.call('up_fail')).toMatchObject({
        kind: 'result',
        result: { value: { isError: true, content: [{ type: 'text', text: 'This tool always fails.' }] } },
      });
    }
    expect(stage.status('up')).toMatchObject({ state: 'connected', error: undefined });
    expect((await stage.ledger())[0]).toMatchObject({
      status: 'error',
      outcome: 'tool_error',
      error: 'This tool always fails.',
    });
  });

  test(verifies('arguments:bytes', 'arguments reach the server as they were written'), async () => {
    const stage = await openStage();
    await stage.start({ servers: { up: await quadrant.echo(stage) } });
    const written = [
      '{"big":12345678901234567890123,"small":1e-400,"same":1.0}',
      '{  "odd" :\t[ 1 ,2,   3 ]  , "z":1,"a":2 }',
      '{"text":"é ☃ \u{1f600} \\u00e9 \u2028 \\ud800","empty":""}',
      '{}',
    ];
    for (const argumentsText of written) {
      expect(await stage.say('up_raw_args', {}, { argumentsText })).toBe(argumentsText);
    }
    // Over a pipe a line break would be the end of the message, so it becomes a blank everywhere.
    expect(await stage.say('up_raw_args', {}, { argumentsText: '{\n"a": 1,\r\n"b": 2\n}' })).toBe(
      '{ "a": 1,  "b": 2 }',
    );
  });

  test("the caller's metadata and the hub's call id arrive, and nothing of an identity", async () => {
    const stage = await openStage();
    await stage.start({ servers: { up: await quadrant.echo(stage) } });
    const meta = '"example.com/trace":{"id": 12345678901234567890}';
    const heard = await stage.say('up_meta', { region: 'eu' }, { meta });
    expect(heard).not.toMatch(/tester/);
    const [line] = await stage.ledger();
    expect(JSON.parse(heard)).toMatchObject({
      _meta: { 'example.com/trace': expect.anything(), 'quartermaster/call-id': line?.call_id },
      ...(quadrant.transport === 'http' ? { authorization: '' } : {}),
    });
  });

  test('a list in pages is whole, and a change of it is taken up without being asked for', async () => {
    const stage = await openStage();
    await stage.start({ servers: { up: await quadrant.growing(stage) } });
    expect(await stage.names()).toEqual(['up_ash', 'up_elm', 'up_fir', 'up_grow', 'up_oak']);
    let renewals = 0;
    stage.hub.lists.onListsChange(() => renewals++);
    for (const sapling of ['sapling_1', 'sapling_2']) {
      expect(await stage.say('up_grow')).toBe(sapling);
      await eventually(async () => ((await stage.names()).includes(`up_${sapling}`) ? true : undefined), sapling);
      expect(await stage.say(`up_${sapling}`)).toBe(`I am ${sapling}.`);
    }
    expect(renewals).toBe(2);
    expect(await stage.names()).toHaveLength(7);
  });
});

test('configured headers arrive at an HTTP server; a mirrored argument only in the newer revision', async () => {
  const stage = await openStage();
  const urls = await Promise.all(
    ['legacy', 'modern'].map(async (era) => (await stage.fixture('echo-http.mjs', ['--era', era])).url),
  );
  const headers = { Authorization: `Bearer \${TOKEN}`, 'X-Team': 'blue', 'X-Empty': `\${NOTHING:-}` };
  const [old, recent] = urls.map((url) => ({ url, headers }));
  const config = { servers: { old: old ?? {}, recent: recent ?? {} } };
  await stage.start(config, { env: { TOKEN: 'upstream-secret' } });
  for (const [server, region] of [
    ['old', ''],
    ['recent', 'eu'],
  ]) {
    const heard = JSON.parse(await stage.say(`${server}_meta`, { region: 'eu' }));
    expect(heard).toMatchObject({ authorization: 'Bearer upstream-secret', region });
    expect(heard.headers).toContain('x-team');
    expect(heard.headers).not.toContain('x-empty');
  }
  expect(JSON.stringify(await stage.ledger()) + stage.log.join()).not.toContain('upstream-secret');
});
