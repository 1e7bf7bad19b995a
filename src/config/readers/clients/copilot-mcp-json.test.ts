// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import { verifies } from '../../../../test/support/verifies.ts';
import { invalid, ready } from '../../workspace.fixture.ts';
import { loadClient } from './client-file.fixture.ts';

test.each(['.copilot/mcp-config.json', '.github/mcp.json'])(
  verifies('config:client-files', 'Copilot: %s, with names without braces and its list of tools'),
  async (file) => {
    const configuration = await loadClient(
      file,
      {
        mcpServers: {
          local: { type: 'local', command: 'x', args: ['$KEY', '${NONE:-d}'], tools: ['*'] },
          some: { type: 'sse', url: 'https://x.example/sse', headers: { A: 'Bearer $KEY' }, tools: ['read'] },
          none: { type: 'http', url: 'https://x.example', tools: [], timeout: 5_000 },
          'owner/name': { type: 'http', url: 'https://x.example', gallery: 'https://g.example', version: '1' },
        },
      },
      { KEY: 'key-of-copilot' },
    );
    expect(configuration.problems.map(({ severity, field }) => [severity, field])).toEqual([
      ['warning', 'mcpServers.owner/name'],
    ]);
    expect(ready(configuration, 'local').transport).toMatchObject({ args: ['key-of-copilot', 'd'] });
    expect(ready(configuration, 'some').transport).toMatchObject({
      type: 'sse',
      headers: { A: 'Bearer key-of-copilot' },
    });
    expect([
      ready(configuration, 'local').tools,
      ready(configuration, 'some').tools,
      ready(configuration, 'none').tools,
    ]).toEqual([{ include: ['*'] }, { include: ['read'] }, { include: [] }]);
    expect(ready(configuration, 'none').limits.timeoutMs).toBe(5_000);
    expect(ready(configuration, 'owner-name').transport.type).toBe('http');
  },
);

test('tools that cannot be read offer nothing', async () => {
  const configuration = await loadClient('.github/mcp.json', { mcpServers: { s: { command: 'x', tools: 'read' } } });
  expect(invalid(configuration, 's').problems[0]?.message).toContain('"tools" must be a list');
});
