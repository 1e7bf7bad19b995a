import { expect, onTestFinished, test } from 'vitest';
import { fixturePath } from '../../test/support/fixture-servers.ts';
import { verifies } from '../../test/support/verifies.ts';
import { within } from '../../test/support/within.ts';
import type { TransportSpec } from '../domain/index.ts';
import { type Inspection, inspectServer } from './inspect-server.ts';
import { lookDeps, lookOptions, nodeServer, specOf } from './spec.fixture.ts';
import { type Received, sendJsonReply, serveHttp } from './transports/http-server.fixture.ts';

async function inspect(transport: TransportSpec): Promise<Inspection> {
  return within(inspectServer(lookDeps(), lookOptions(specOf(transport))), 'the inspection');
}

test(verifies('upstream:inspect', 'everything that a server of 2026 offers is there'), async () => {
  const found = await inspect(nodeServer(fixturePath('everything.mjs'), '--stdio'));
  expect(found).toMatchObject({ transport: 'stdio', protocolVersion: '2026-07-28' });
  expect(found.serverInfo?.name).toMatch(/./);
  expect(found.tools.map(({ name }) => name)).toContain('test_simple_text');
  expect(found.resources.map(({ uri }) => uri)).toContain('test://static-text');
  expect(found.resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain('test://template/{id}/data');
  expect(found.prompts.map(({ name }) => name)).toContain('test_simple_prompt');
  expect(Object.keys(found.capabilities)).toEqual(expect.arrayContaining(['tools', 'resources', 'prompts']));
});

/** A server of 2025 that answers by a table; what is not in it is an error. */
async function scripted(results: Readonly<Record<string, (params: Record<string, unknown>) => object>>) {
  const server = await serveHttp(({ message, response }: Received) => {
    const { id, method, params } = message;
    const answer = results[String(method)];
    const reply = answer
      ? { result: answer((params ?? {}) as Record<string, unknown>) } // the hub sends objects
      : { error: { code: -32601, message: `no ${String(method)}` } };
    sendJsonReply(response, 200, { jsonrpc: '2.0', id, ...reply });
  });
  onTestFinished(server.close);
  return server;
}

const greeting = (capabilities: object, more: object = {}) => ({
  initialize: () => ({
    protocolVersion: '2025-06-18',
    capabilities,
    serverInfo: { name: 'shop', version: '2', title: 'The Shop' },
    ...more,
  }),
});

test('lists are read page by page, in order; what is no object is left out and told', async () => {
  const { url } = await scripted({
    ...greeting({ prompts: {} }, { instructions: 'Be kind.' }),
    'prompts/list': ({ cursor }) =>
      cursor === 'two'
        ? { prompts: [{ name: 'c' }, 7] }
        : { prompts: [{ name: 'a' }, { name: 'b' }], nextCursor: 'two' },
  });
  expect(await inspect({ type: 'http', url, headers: {} })).toEqual({
    serverInfo: { name: 'shop', version: '2', title: 'The Shop' },
    instructions: 'Be kind.',
    protocolVersion: '2025-06-18',
    transport: 'http',
    capabilities: { prompts: {} },
    tools: [],
    resources: [],
    resourceTemplates: [],
    prompts: [{ name: 'a' }, { name: 'b' }, { name: 'c' }],
    warnings: ['a prompt without a usable name was left out'],
  });
});

test('a list that fails or does not end is a warning; the others are there', async () => {
  const { url, received } = await scripted({
    ...greeting({ tools: {}, resources: {}, prompts: {} }, { serverInfo: 'me' }),
    'resources/list': ({ cursor = '' }) => ({ resources: [{ uri: `a:${cursor}` }], nextCursor: `${cursor}x` }),
    'resources/templates/list': () => ({ resourceTemplates: 'none' }),
  });
  const found = await inspect({ type: 'http', url, headers: {} });
  expect(found.serverInfo).toBeUndefined();
  expect(found.resources).toHaveLength(64);
  expect(found.warnings).toEqual([
    'tools/list failed: no tools/list',
    'resources/list did not end; 64 entries were taken',
    'resources/templates/list failed: no list of resourceTemplates',
    'prompts/list failed: no prompts/list',
  ]);
  expect(received.length).toBeLessThan(150);
});

test('no connection is an error with its next step, without secrets', async () => {
  const script = `console.error('bad key hunter2'); process.exit(3)`;
  const deps = lookDeps((text) => text.replaceAll('hunter2', '[redacted]'));
  const look = inspectServer(deps, lookOptions(specOf(nodeServer('-e', script))));
  await expect(within(look, 'the inspection')).rejects.toMatchObject({
    code: 'UPSTREAM_UNAVAILABLE',
    message: expect.stringContaining('bad key [redacted]'),
    details: { stderrTail: 'bad key [redacted]' },
  });
});
