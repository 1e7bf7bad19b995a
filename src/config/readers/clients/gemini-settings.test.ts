// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import { verifies } from '../../../../test/support/verifies.ts';
import type { Configuration } from '../../../domain/index.ts';
import { invalid, onlyProblem, ready } from '../../workspace.fixture.ts';
import { loadClient } from './client-file.fixture.ts';

const gemini = (content: unknown, env?: Readonly<Record<string, string>>): Promise<Configuration> =>
  loadClient('.gemini/settings.json', content, env);

test(
  verifies('config:client-files', 'Gemini: two words for the address, tools, variables, and settings of its own'),
  async () => {
    const configuration = await gemini(
      {
        ui: { theme: 'x' },
        hooks: { SessionStart: [{ type: 'command', command: 'x' }] },
        'terminal.denyList': ['rm'],
        mcpServers: {
          program: { command: 'x', args: ['$KEY', '${NONE:-d}', '$(pwd)'], cwd: 'sub', trust: true, timeout: 3_000 },
          streamable: { httpUrl: 'https://x.example/mcp', headers: { A: '${KEY}' }, excludeTools: ['write'] },
          events: { url: 'https://x.example/sse', includeTools: ['read', 'list'] },
          typed: { url: 'https://x.example/mcp', type: 'http' },
        },
      },
      { KEY: 'key-of-gemini' },
    );
    expect(configuration.problems).toEqual([]);
    expect(ready(configuration, 'program')).toMatchObject({
      transport: { args: ['key-of-gemini', 'd', '$(pwd)'], cwd: `${configuration.workspace}/sub` },
      limits: { timeoutMs: 3_000 },
      access: { trustAnnotations: false, readOnly: false },
    });
    expect(ready(configuration, 'streamable')).toMatchObject({
      transport: { type: 'http', url: 'https://x.example/mcp', headers: { A: 'key-of-gemini' } },
      tools: { exclude: ['write'] },
    });
    expect(ready(configuration, 'events')).toMatchObject({
      transport: { type: 'sse' },
      tools: { include: ['read', 'list'] },
    });
    expect(ready(configuration, 'typed').transport.type).toBe('http');
  },
);

test.each([
  [{ mcp: { allowed: ['a'] } }, [true, false]],
  [{ mcp: { allowed: [] } }, [false, false]],
  [{ mcp: { excluded: ['a'] } }, [false, true]],
  [{ mcp: { allowed: ['a', 'b'], excluded: ['b'] } }, [true, false]],
  [{ allowMCPServers: ['b'] }, [false, true]],
  [{ excludeMCPServers: ['b'] }, [true, false]],
])('lists of servers switch the others off: %j', async (lists, on) => {
  const configuration = await gemini({ mcpServers: { a: { command: 'x' }, b: { command: 'y' } }, ...lists });
  expect(configuration.problems).toEqual([]);
  expect(['a', 'b'].map((name) => ready(configuration, name).enabled)).toEqual(on);
});

test('a list of servers that cannot be read leaves none', async () => {
  const configuration = await gemini({ mcpServers: { a: { command: 'x' } }, mcp: { allowed: 'b' } });
  expect(configuration.servers.size).toBe(0);
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', field: 'mcp.allowed', line: 8 });
});

test('a file without servers is nobody’s concern', async () => {
  const configuration = await gemini({ mcp: { serverCommand: 'x' }, modelConfigs: {} });
  expect([configuration.problems, configuration.servers.size]).toEqual([[], 0]);
});

test('messages name the address as it was written', async () => {
  const configuration = await gemini({
    mcpServers: { a: { httpUrl: '$NONE' }, b: { httpUrl: 'https://x.example', url: 'y' } },
  });
  expect(invalid(configuration, 'a').problems[0]).toMatchObject({
    field: 'mcpServers.a.httpUrl',
    message: 'Server "a": "httpUrl" needs the variable NONE, which is not set.',
  });
  expect(ready(configuration, 'b').transport).toMatchObject({ url: 'https://x.example' });
  expect(configuration.problems[1]).toMatchObject({ severity: 'warning', field: 'mcpServers.b.url' });
});

test('a login of its own is told, a mistyped restriction is an error', async () => {
  const configuration = await gemini({
    mcpServers: {
      a: { httpUrl: 'https://x.example', authProviderType: 'google_credentials' },
      b: { command: 'x', excludeTool: ['write'] },
    },
  });
  expect(configuration.problems[0]).toMatchObject({ severity: 'warning', field: 'mcpServers.a.authProviderType' });
  expect(invalid(configuration, 'b').problems[0]).toMatchObject({
    severity: 'error',
    fix: 'Did you mean "excludeTools"?',
  });
});
