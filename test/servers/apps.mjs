/**
 * A server of MCP Apps whose URIs and tool names are the same whatever its label, so that two of them contest all.
 *
 *   node apps.mjs --label NAME --era legacy|modern [--delay MS] [--reference URI]
 *
 * --delay: how long it takes to start · --reference: the URI of the interface of the tool `show`
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { createBoard } from './matrix/board.mjs';
import { serveLegacyStdio, serveModernStdio } from './matrix/serve.mjs';

const { values } = parseArgs({
  options: {
    label: { type: 'string', default: 'apps' },
    era: { type: 'string', default: 'legacy' },
    delay: { type: 'string', default: '0' },
    reference: { type: 'string', default: 'ui://shared/view.html' },
  },
});
const { label, era, reference } = values;

const view = 'ui://shared/view.html';
const skill = 'skill://shared/SKILL.md';
const board = createBoard(label);

function make({ keep }) {
  const capabilities = { tools: {}, resources: { subscribe: true }, completions: {} };
  const server = new McpServer({ name: label, version: '1.0.0' }, { capabilities });
  const schema = { inputSchema: z.object({ text: z.string().optional() }) };
  const ui = { resourceUri: reference };
  server.registerTool('show', { ...schema, _meta: { ui, 'ui/resourceUri': reference } }, () => ({
    content: [
      { type: 'text', text: `"ui://in-a-text" of ${label}` },
      { type: 'resource_link', uri: view, name: 'view' },
      { type: 'resource', resource: { uri: skill, text: 'embedded' } },
      { type: 'resource_link', uri: 'memo://plain', name: 'plain' },
    ],
    structuredContent: { uri: view },
    _meta: { ui: { resourceUri: view } },
  }));
  server.registerTool('refresh', { ...schema, _meta: { ui: { ...ui, visibility: ['app'] } } }, ({ text }) =>
    said(`${label} refreshed ${text}`),
  );
  server.registerTool('plan', { ...schema, _meta: { ui: { ...ui, visibility: ['model'] } } }, () => said('planned'));
  server.registerTool('secret', schema, () => said('secret'));
  server.registerTool(`only_${label}`, schema, () => said(`only ${label}`));
  server.registerTool('touch', schema, async () => {
    await board.touch(view);
    return said('touched');
  });
  server.registerTool('declared', schema, (_args, context) => {
    const told = context.mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities'];
    return said(JSON.stringify(told ?? server.server.getClientCapabilities() ?? {}));
  });
  const html = { mimeType: 'text/html;profile=mcp-app' };
  const page = (uri, text) => ({ contents: [{ uri, ...html, text }] });
  server.registerResource('view', view, html, () => page(view, `<p>${label}</p>`));
  server.registerResource('skill', skill, { mimeType: 'text/markdown' }, () => page(skill, `# ${label}`));
  const complete = { part: (value) => [`${value}-${label}`] };
  const parts = new ResourceTemplate('ui://shared/parts/{part}', { list: undefined, complete });
  server.registerResource('parts', parts, html, (uri) => page(uri.href, `<p>${label} part</p>`));
  board.attach(server, { era, keep });
  return server;
}

function said(text) {
  return { content: [{ type: 'text', text }] };
}

await sleep(Number(values.delay));
await (era === 'legacy' ? serveLegacyStdio({ make }) : serveModernStdio({ make }));
