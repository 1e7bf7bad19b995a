import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { gatewayForTest } from '../../support/gateway.ts';
import { legacyClient, metaPrefix, modernClient } from '../../support/mcp-clients.ts';
import { programPath } from '../../support/programs.ts';
import { verifies } from '../../support/verifies.ts';

/** Two published MCP Apps servers: `server-system-monitor` and `server-budget-allocator`. */
const real = (program: 'systemMonitor' | 'budgetAllocator') => ({
  command: process.execPath,
  args: [programPath(program), '--stdio'],
});
const servers = { monitor: real('systemMonitor'), budget: real('budgetAllocator') };
const pages = { monitor: pageOf('systemMonitor'), budget: pageOf('budgetAllocator') };
const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };
const patient = { timeout: 90_000 };

test.each(['legacy', 'modern'] as const)(
  verifies('apps:owner', 'two published servers at once: their interfaces are read and an app calls its tool (%s)'),
  patient,
  async (era) => {
    const gateway = await gatewayForTest({ servers });
    const token = await gateway.token();
    const request = era === 'legacy' ? await legacy(gateway.url, token) : modern(gateway.url, token);
    const { tools = [] } = (await request('tools/list')).message.result ?? {};
    const uis = new Map<string, string>();
    for (const tool of tools as unknown as UiTool[]) {
      const { resourceUri } = tool._meta?.ui ?? {};
      if (resourceUri !== undefined) uis.set(tool.name, resourceUri);
      expect(tool._meta?.['ui/resourceUri'], tool.name).toBe(resourceUri);
    }
    expect([...uis]).toEqual([
      ['budget_get-budget-data', expect.stringMatching(/^ui:\/\/budget\/./)],
      ['monitor_get-system-info', expect.stringMatching(/^ui:\/\/monitor\/./)],
    ]);
    expect((await request('tools/call', { name: 'poll-system-stats', arguments: {} })).message.error).toBeDefined();
    for (const [tool, uri] of uis) {
      const { result } = (await request('resources/read', { uri })).message;
      const server = tool.startsWith('budget') ? 'budget' : 'monitor';
      expect(result).toMatchObject({ contents: [{ uri, mimeType: 'text/html;profile=mcp-app' }] });
      const { contents = [] } = result as { contents?: { text: string }[] };
      expect(contents[0]?.text === pages[server], `${uri} is the page of ${server}`).toBe(true);
    }
    // As the page of the monitor does every other second, by its server's own name for the tool.
    const polled = await request('tools/call', { name: 'poll-system-stats', arguments: {} });
    expect(polled.message.result).toMatchObject({ structuredContent: { memory: expect.anything() } });
    const lines = (await gateway.calls(4)).map(({ server, tool, outcome }) => [server, tool, outcome]);
    expect(lines.at(-1)).toEqual(['monitor', 'poll-system-stats', 'ok']);
  },
);

interface UiTool {
  readonly name: string;
  readonly _meta?: { readonly ui?: { readonly resourceUri?: string }; readonly 'ui/resourceUri'?: string };
}

function pageOf(program: 'systemMonitor' | 'budgetAllocator'): string {
  return readFileSync(join(dirname(programPath(program)), 'mcp-app.html'), 'utf8');
}

type Request = (method: string, params?: object) => ReturnType<ReturnType<typeof modernClient>['request']>;

async function legacy(url: string, token: string): Promise<Request> {
  return (await legacyClient(url, token, undefined, { extensions })).request;
}

function modern(url: string, token: string): Request {
  const client = modernClient(url, token);
  const meta = { [`${metaPrefix}clientCapabilities`]: { extensions } };
  return (method, params = {}) =>
    client.request(method, params, { meta, headers: 'uri' in params ? { 'mcp-name': String(params.uri) } : {} });
}
