import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSilentLogger, createSystemClock, systemRandom } from '../../../src/base/index.ts';
import { statusToolName } from '../../../src/calls/index.ts';
import { serveStdio } from '../../../src/faces/mcp-stdio/index.ts';
import type { Hub } from '../../../src/hub/index.ts';
import { fixturePath, startHttpFixture } from '../../support/fixture-servers.ts';
import { type Config, echoServer, gatewayForTest, type RunningGateway } from '../../support/gateway.ts';
import { initializeRequest, legacyClient, modernClient, modernMeta, namesOf } from '../../support/mcp-clients.ts';
import type { Message } from '../../support/mcp-http.ts';
import { createMovingClock } from '../../support/moving-clock.ts';
import { verifies } from '../../support/verifies.ts';
import { viewOf } from '../../support/views.ts';
import { eventually, within } from '../../support/within.ts';

/** What an agent learns, by every way in, when servers are away. */
interface Agent {
  /** The answer to what a client asks first. */
  readonly hello: Message;
  list(): Promise<Message>;
  call(name: string, args?: object): Promise<Message>;
}

type WayIn = (gateway: RunningGateway) => Promise<Agent>;

const waysIn: readonly (readonly [string, WayIn])[] = [
  [
    'HTTP, 2025',
    async ({ url, token }) => {
      const client = await legacyClient(url, await token());
      return {
        hello: client.initialized,
        list: async () => (await client.request('tools/list')).message,
        call: async (name, args) => (await client.call(name, args)).message,
      };
    },
  ],
  [
    'HTTP, 2026',
    async ({ url, token }) => {
      const client = modernClient(url, await token());
      return {
        hello: (await client.request('server/discover')).message,
        list: async () => (await client.request('tools/list')).message,
        call: async (name, args) => (await client.call(name, args)).message,
      };
    },
  ],
  ['stdio, 2025', ({ hub }) => overPipes(hub, initializeRequest(), {})],
  [
    'stdio, 2026',
    ({ hub }) => {
      const _meta = modernMeta();
      return overPipes(hub, { jsonrpc: '2.0', id: 'init', method: 'server/discover', params: { _meta } }, { _meta });
    },
  ],
];

async function overPipes(hub: Hub, first: object, common: object): Promise<Agent> {
  const input = new PassThrough();
  const output = new PassThrough();
  const caller = hub.callerFor({ agent: 'tester' });
  const deps = {
    hub,
    caller,
    clock: createSystemClock(),
    logger: createSilentLogger(),
    random: systemRandom,
    input,
    output,
  };
  const face = serveStdio(deps);
  onTestFinished(() => face.close());
  const answers = new Map<unknown, (message: Message) => void>();
  createInterface({ input: output }).on('line', (line) => {
    const message = JSON.parse(line) as Message; // the face's own line
    answers.get(message.id)?.(message);
  });
  const ask = (id: string, message: object): Promise<Message> => {
    const answer = new Promise<Message>((resolve) => answers.set(id, resolve));
    input.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...message })}\n`);
    return within(answer, `an answer to ${id}`);
  };
  return {
    hello: await ask('init', first),
    list: () => ask('list', { method: 'tools/list', params: common }),
    call: (name, args = {}) => ask('call', { method: 'tools/call', params: { name, arguments: args, ...common } }),
  };
}

const broken = { command: process.execPath, args: [fixturePath('bad.mjs'), 'exits-at-start'] };
const nobody = { url: 'http://127.0.0.1:9/mcp' };
const routed = (servers: Readonly<Record<string, object>>, ...others: string[]): Config => ({
  servers,
  agents: {
    tester: { servers: Object.keys(servers).filter((name) => !others.includes(name)) },
    other: { servers: others },
  },
});

describe.each(waysIn)('%s', (_, enter) => {
  test(
    verifies('unavailable:endpoint', 'servers that are away at the start are named, and the others are listed'),
    async () => {
      const gateway = await gatewayForTest(
        routed(
          { up: echoServer, github: { ...broken, instead: 'use the gh command line.' }, hidden: nobody },
          'hidden',
        ),
        { cold: true },
      );
      const early = await enter(gateway);
      // Nobody waits before the list is asked for.
      expect(early.hello.result?.instructions).toContain('- github is still starting.');
      expect(namesOf(await early.list())).toEqual(expect.arrayContaining(['up_echo', 'up_add', statusToolName]));
      const agent = await enter(gateway);
      expect(agent.hello.result?.instructions).toMatch(
        /^These servers are not available yet, .*quartermaster_status.*\n- github cannot be reached; the hub .*\. Meanwhile: use the gh command line\.$/,
      );
      const status = await agent.call(statusToolName);
      expect(status.result?.content?.[0]?.text).toMatch(/^- github cannot be reached;.*use the gh command line\.$/m);
      expect(status.result?.content?.[0]?.text).not.toMatch(/hidden|API_KEY/);
      const warned = gateway.log.filter(({ event }) => event === 'upstream.connect-failed');
      expect(warned.map(({ fields }) => fields.server)).toContain('github');
      expect(warned.map(({ fields }) => fields.server)).not.toContain('hidden');
    },
  );

  test(verifies('unavailable:endpoint', 'with all servers down the list has only the tool that says why'), async () => {
    const gateway = await gatewayForTest(routed({ github: broken, web: nobody }), { cold: true });
    expect(namesOf(await (await enter(gateway)).list())).toEqual([statusToolName]);
    const agent = await enter(gateway);
    expect(agent.hello.error).toBeUndefined();
    const { instructions } = agent.hello.result ?? {};
    expect(instructions).toMatch(/^- github cannot be reached;.*Meanwhile: continue without its tools\.$/m);
    expect(instructions).toMatch(/^- web cannot be reached;/m);
    // Why exactly is the operator's business.
    expect(instructions).not.toMatch(/API_KEY|127\.0\.0\.1/);
  });

  test(
    verifies('unavailable:told', 'a tool whose server went away: its name, what to do instead, and when'),
    async () => {
      const fixture = await startHttpFixture('echo-http.mjs');
      onTestFinished(() => fixture.stop());
      const gateway = await gatewayForTest(
        routed({ web: { url: fixture.url, instead: 'use curl' }, plain: { url: fixture.url } }),
      );
      const agent = await enter(gateway);
      expect(agent.hello.result?.instructions).toBeUndefined();
      expect((await agent.call('web_echo', { message: 'hi' })).result?.content?.[0]?.text).toBe('hi');
      await fixture.stop();
      const { error } = await agent.call('web_echo', { message: 'hi' });
      expect(error?.message).toMatch(
        /^Server "web" .*\. Nothing was sent\. Meanwhile: use curl\. The hub tries again in \d+ s\.$/,
      );
      expect(error?.data).toMatchObject({
        code: 'UPSTREAM_UNAVAILABLE',
        retryable: true,
        server: 'web',
        instead: 'use curl',
      });
      expect(error?.data?.state).toMatch(/^(retrying|connecting|open-circuit)$/);
      expect(error?.data?.retryAfterMs).toEqual(expect.any(Number));
      const plain = await agent.call('plain_echo', { message: 'hi' });
      expect(plain.error?.message).toContain('Meanwhile: continue without this tool.');
      // The tools are still listed, for the server may be back at any time.
      expect(namesOf(await agent.list())).toContain('web_echo');
    },
  );

  test(
    verifies('unavailable:grace', 'after the grace period the tools are gone from the list, and a call still says why'),
    async () => {
      const fixture = await startHttpFixture('echo-http.mjs');
      onTestFinished(() => fixture.stop());
      const clock = createMovingClock();
      const web = { url: fixture.url, instead: 'use curl', limits: { grace_s: 600 } };
      const gateway = await gatewayForTest(routed({ web, up: echoServer }), { clock });
      await fixture.stop();
      const { call } = await enter(gateway);
      expect((await call('web_echo')).error?.data).toMatchObject({ server: 'web' });
      clock.advance(600_000);
      await eventually(async () => !viewOf(gateway.hub).entries.has('web_echo'), 'the tools to leave');
      const agent = await enter(gateway);
      expect(agent.hello.result?.instructions).toMatch(/^- web cannot be reached;.*Meanwhile: use curl\.$/m);
      const names = namesOf(await agent.list());
      expect(names).toContain('up_echo');
      expect(names.filter((name) => name.startsWith('web_'))).toEqual([]);
      const { error } = await agent.call('web_echo', { message: 'hi' });
      expect(error?.message).toMatch(
        /^Server "web" is unavailable, so its tools are not in your list: .* Meanwhile: use curl\. The hub tries again in \d+ s\.$/,
      );
      expect(error?.data).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', server: 'web', instead: 'use curl' });
    },
  );

  test('a tool of a server that nobody could ask yet is told with the server; a hidden one is unknown', async () => {
    const gateway = await gatewayForTest(
      routed({ up: echoServer, github: { ...broken, instead: 'use the gh command line' }, hidden: broken }, 'hidden'),
    );
    const agent = await enter(gateway);
    const { error } = await agent.call('github_create_issue');
    expect(error?.message).toMatch(/^Server "github" is unavailable.*Meanwhile: use the gh command line\./);
    expect(error?.data).toMatchObject({ server: 'github', instead: 'use the gh command line' });
    expect((await agent.call('hidden_anything')).error?.message).toMatch(/^Unknown tool: hidden_anything/);
    expect(await gateway.calls(2)).toMatchObject([{ outcome: 'unavailable' }, { outcome: 'unknown_tool' }]);
  });
});

test('with many servers away the text stays short', async () => {
  const servers = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [
      `server-${index}`,
      { ...nobody, instead: 'read the manual '.repeat(50) },
    ]),
  );
  const gateway = await gatewayForTest({ servers }, { cold: true });
  const { initialized } = await legacyClient(gateway.url, await gateway.token());
  const { instructions } = initialized.result ?? {};
  expect(instructions).toMatch(/- server-0 .*…\.\n[\s\S]*- and 12 more$/);
  expect(String(instructions).length).toBeLessThan(3000);
});
