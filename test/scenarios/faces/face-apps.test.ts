import { expect, test } from 'vitest';
import { gatewayForTest, type RunningGateway } from '../../support/gateway.ts';
import { stdioServer } from '../../support/hub.ts';
import { legacyClient, metaPrefix, modernClient } from '../../support/mcp-clients.ts';
import type { Answer } from '../../support/mcp-http.ts';
import { verifies } from '../../support/verifies.ts';

const app = (label: string, ...more: string[]) => stdioServer('apps.mjs', ['--label', label, ...more]);
/** The first in the configuration is the slower one. */
const servers = { north: app('north', '--delay', '500'), south: app('south', '--era', 'modern') };
const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };

/** One client, whatever its protocol version. */
interface AppClient {
  request(method: string, params?: object): Promise<Answer>;
}

async function client(gateway: RunningGateway, era: 'legacy' | 'modern', showsUi = true): Promise<AppClient> {
  const token = await gateway.token();
  const capabilities = showsUi ? { extensions } : {};
  if (era === 'legacy') return legacyClient(gateway.url, token, undefined, capabilities);
  const modern = modernClient(gateway.url, token);
  const meta = { [`${metaPrefix}clientCapabilities`]: capabilities };
  const name = (params: object) => ('uri' in params ? { 'mcp-name': String(params.uri) } : {});
  return { request: (method, params = {}) => modern.request(method, params, { meta, headers: name(params) }) };
}

const read = async ({ request }: AppClient, uri: string) => (await request('resources/read', { uri })).message;
const call = async ({ request }: AppClient, name: string, args: object = {}) =>
  (await request('tools/call', { name, arguments: args })).message;

test.each(['legacy', 'modern'] as const)(
  verifies('apps:owner', 'two servers with one URI: each supplies the interface of its own tools (%s)'),
  async (era) => {
    const gateway = await gatewayForTest({ servers });
    const agent = await client(gateway, era);
    const { tools = [] } = (await agent.request('tools/list')).message.result ?? {};
    const reference = (name: string) => tools.find((tool) => tool.name === name);
    for (const server of ['north', 'south']) {
      const uri = `ui://${server}/shared/view.html`;
      expect(reference(`${server}_show`)).toMatchObject({ _meta: { ui: { resourceUri: uri }, 'ui/resourceUri': uri } });
      expect((await read(agent, uri)).result).toMatchObject({ contents: [{ uri, text: `<p>${server}</p>` }] });
      const part = `ui://${server}/shared/parts/a`;
      expect((await read(agent, part)).result).toMatchObject({
        contents: [{ uri: part, text: `<p>${server} part</p>` }],
      });
    }
    // Nobody has it without a namespace: the first to answer would supply the interface of the other.
    for (const uri of ['ui://shared/view.html', 'UI://shared/view.html', 'skill://shared/SKILL.md', 'ui:shared']) {
      expect((await read(agent, uri)).error, uri).toMatchObject({ code: era === 'legacy' ? -32002 : -32602 });
    }
  },
);

test.each(['legacy', 'modern'] as const)(
  verifies('apps:references', 'in lists, results, templates and completions (%s)'),
  async (era) => {
    const gateway = await gatewayForTest({ servers });
    const agent = await client(gateway, era);
    expect((await agent.request('resources/list')).message.result).toMatchObject({
      resources: [
        { uri: 'skill://north/shared/SKILL.md' },
        { uri: 'skill://south/shared/SKILL.md' },
        { uri: 'ui://north/shared/view.html' },
        { uri: 'ui://south/shared/view.html' },
      ],
    });
    expect((await agent.request('resources/templates/list')).message.result).toMatchObject({
      resourceTemplates: [
        { uriTemplate: 'ui://north/shared/parts/{part}' },
        { uriTemplate: 'ui://south/shared/parts/{part}' },
      ],
    });
    for (const server of ['north', 'south']) {
      expect((await call(agent, `${server}_show`)).result).toMatchObject({
        content: [
          { text: `"ui://in-a-text" of ${server}` },
          { uri: `ui://${server}/shared/view.html` },
          { resource: { uri: `skill://${server}/shared/SKILL.md` } },
          { uri: 'memo://plain' },
        ],
        structuredContent: { uri: 'ui://shared/view.html' },
        _meta: { ui: { resourceUri: `ui://${server}/shared/view.html` } },
      });
      const ref = { type: 'ref/resource', uri: `ui://${server}/shared/parts/{part}` };
      const completed = await agent.request('completion/complete', { ref, argument: { name: 'part', value: 'x' } });
      expect(completed.message.result).toMatchObject({ completion: { values: [`x-${server}`] } });
    }
  },
);

test(verifies('apps:references', 'changes are announced under the namespaced URI'), async () => {
  const gateway = await gatewayForTest({ servers });
  const token = await gateway.token();
  const agent = await legacyClient(gateway.url, token);
  const stream = await agent.listen();
  for (const server of ['south', 'north']) {
    const uri = `ui://${server}/shared/view.html`;
    expect((await agent.request('resources/subscribe', { uri })).message.result).toEqual({});
    await agent.call(`${server}_touch`);
    let message = await stream.next();
    // A slow machine may still announce lists.
    while (message.method?.endsWith('/list_changed')) message = await stream.next();
    expect(message).toMatchObject({ method: 'notifications/resources/updated', params: { uri } });
  }
  stream.close();
});

test(verifies('apps:owner', 'a reference with another scheme leads to its own server, too'), async () => {
  const gateway = await gatewayForTest({
    servers: { ...servers, west: app('west', '--reference', 'memo://x'), east: app('east', '--reference', 'ui:odd') },
  });
  const agent = await client(gateway, 'legacy');
  const { tools = [] } = (await agent.request('tools/list')).message.result ?? {};
  expect(tools.find(({ name }) => name === 'west_show')).toMatchObject({
    _meta: { ui: { resourceUri: 'west+memo://x' }, 'ui/resourceUri': 'west+memo://x' },
  });
  expect(tools.find(({ name }) => name === 'east_show')).toMatchObject({
    _meta: { ui: { resourceUri: 'east+ui:odd' }, 'ui/resourceUri': 'east+ui:odd' },
  });
});

test.each(['legacy', 'modern'] as const)(
  verifies('apps:calls', 'an own name means the server whose interface was read (%s)'),
  async (era) => {
    const policies = { tools: { 'south.secret': 'deny' } };
    const gateway = await gatewayForTest({ servers, policies });
    const agent = await client(gateway, era);
    expect((await call(agent, 'refresh')).error).toBeDefined();
    await read(agent, 'ui://south/shared/view.html');
    expect((await call(agent, 'refresh', { text: 'x' })).result).toMatchObject({
      content: [{ text: 'south refreshed x' }],
    });
    // What a rule denies and what only models may call is unknown to an app, as it is to the agent.
    const unknown = await call(agent, 'no-such-tool');
    for (const name of ['secret', 'plan', 'only_north']) {
      const { error } = await call(agent, name);
      expect({ ...error, message: error?.message.replaceAll(name, 'T') }, name).toMatchObject({
        code: unknown.error?.code,
        message: unknown.error?.message.replaceAll('no-such-tool', 'T'),
      });
    }
    await read(agent, 'ui://north/shared/view.html');
    expect((await call(agent, 'refresh')).error?.message).toBe(
      unknown.error?.message.replaceAll('no-such-tool', 'refresh'),
    );
    expect((await call(agent, 'only_north')).result).toMatchObject({ content: [{ text: 'only north' }] });
    const lines = (await gateway.calls(10)).map(({ server, tool, outcome, rule }) => [server, tool, outcome, rule]);
    expect(lines).toEqual([
      [null, 'refresh', 'unknown_tool', null],
      ['south', 'resource:ui://shared/view.html', 'ok', null],
      ['south', 'refresh', 'ok', null],
      [null, 'no-such-tool', 'unknown_tool', null],
      ['south', 'secret', 'denied', 'south.secret'],
      [null, 'plan', 'unknown_tool', null],
      [null, 'only_north', 'unknown_tool', null],
      ['north', 'resource:ui://shared/view.html', 'ok', null],
      [null, 'refresh', 'unknown_tool', null],
      ['north', 'only_north', 'ok', null],
    ]);
    const { error } = (await gateway.calls(10))[8] ?? {};
    expect(error).toMatch(/ambiguous.*"south", "north"/);
  },
);

test(verifies('apps:calls', 'another session has read nothing; nor has another run of the same token'), async () => {
  const gateway = await gatewayForTest({ servers });
  const token = await gateway.token();
  const first = await legacyClient(gateway.url, token);
  await first.request('resources/read', { uri: 'ui://south/shared/view.html' });
  expect((await first.call('refresh')).message.result).toBeDefined();
  expect((await (await legacyClient(gateway.url, token)).call('refresh')).message.error).toBeDefined();
  const modern = modernClient(gateway.url, token);
  const inRun = (run: string) => ({ headers: { 'x-quartermaster-run': run } });
  const uri = 'ui://south/shared/view.html';
  await modern.request('resources/read', { uri }, { headers: { 'mcp-name': uri, 'x-quartermaster-run': 'one' } });
  expect((await modern.call('refresh', {}, inRun('one'))).message.result).toBeDefined();
  expect((await modern.call('refresh', {}, inRun('two'))).message.error).toBeDefined();
});

test.each(['legacy', 'modern'] as const)(
  verifies(
    'apps:declared',
    'in both eras of client and server, and tools of apps alone are listed to those who show them (%s)',
  ),
  async (era) => {
    const gateway = await gatewayForTest({ servers });
    const shows = await client(gateway, era);
    const plain = await client(gateway, era, false);
    const listed = async (agent: AppClient) =>
      ((await agent.request('tools/list')).message.result?.tools ?? []).map(({ name }) => name);
    expect(await listed(shows)).toContain('north_refresh');
    expect(await listed(plain)).not.toContain('north_refresh');
    expect(await listed(plain)).toContain('north_plan');
    const told = async (agent: AppClient, server: string): Promise<unknown> =>
      JSON.parse((await call(agent, `${server}_declared`)).result?.content?.[0]?.text ?? '');
    // A legacy server hears it once, for all who share the connection; a modern one with each request.
    expect(await told(shows, 'north')).toEqual({ extensions });
    expect(await told(plain, 'north')).toEqual({ extensions });
    expect(await told(shows, 'south')).toEqual({ extensions });
    expect(await told(plain, 'south')).toEqual({});
    const said =
      era === 'legacy'
        ? (await legacyClient(gateway.url, await gateway.token())).initialized.result
        : (await plain.request('server/discover')).message.result;
    expect(said).toMatchObject({ capabilities: { extensions: { 'io.modelcontextprotocol/ui': {} } } });
  },
);
