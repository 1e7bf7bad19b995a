// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { expect, test } from 'vitest';
import type { Configuration } from '../../../domain/index.ts';
import { invalid, load, onlyProblem, ready } from '../../workspace.fixture.ts';
import { loadClient } from './client-file.fixture.ts';

const amp = (content: unknown, env?: Readonly<Record<string, string>>): Promise<Configuration> =>
  loadClient('.amp/settings.json', content, env);

const server = { command: 'npx', args: ['-y', 'x'] };

function rulesOf(configuration: Configuration, name: string): string[] {
  return ready(configuration, name).restrictedBy.flatMap(({ rules }) =>
    (rules?.rules ?? []).map(({ pattern, effect }) => `${pattern} ${effect}`),
  );
}

test('servers with their variables and tools, beside other settings', async () => {
  const configuration = await amp(
    {
      'amp.showCosts': true,
      'amp.mcpServers': {
        playwright: { command: 'npx', args: ['-y', '@playwright/mcp@latest'], includeTools: ['browser_snapshot'] },
        remote: { url: 'https://x.example/mcp', headers: { Authorization: 'Bearer ${TOKEN}' } },
      },
    },
    { TOKEN: 'token-of-amp' },
  );
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 'playwright').tools).toEqual({ include: ['browser_snapshot'] });
  expect(ready(configuration, 'remote').transport).toMatchObject({ headers: { Authorization: 'Bearer token-of-amp' } });
});

test('the first rule on servers that matches decides', async () => {
  const configuration = await amp({
    'amp.mcpServers': {
      good: { command: 'npx', args: ['-y', '@x/server-good'] },
      bad: { command: 'npx', args: ['-y', '@x/server-bad'] },
      near: { url: 'https://mcp.x.example/a' },
      far: { url: 'https://far.example/a' },
    },
    'amp.mcpPermissions': [
      { matches: { command: 'npx', args: '*server-good*' }, action: 'allow' },
      { matches: { command: '*' }, action: 'reject' },
      { matches: { url: 'https://mcp.x.example/*' }, action: 'allow' },
      { matches: { url: '*' }, action: 'reject' },
    ],
  });
  expect(configuration.problems).toEqual([]);
  const on = [...configuration.servers.keys()].filter((name) => ready(configuration, name).enabled);
  expect(on).toEqual(['good', 'near']);
});

test('the first rule on tools that matches decides; disabled ones stay so', async () => {
  const configuration = await amp({
    'amp.mcpServers': { a: server, b: server },
    'amp.tools.disable': ['builtin:edit_file', 'mcp__b__*'],
    'amp.permissions': [
      { tool: 'Bash', matches: { cmd: '*rm*' }, action: 'ask' },
      { tool: 'mcp__a__read', action: 'allow' },
      { tool: 'mcp__a__write', matches: { path: 'src/*' }, action: 'allow' },
      { tool: 'mcp__a__*', action: 'ask' },
    ],
  });
  expect(configuration.problems).toEqual([]);
  expect(rulesOf(configuration, 'a').slice(0, 2)).toEqual(['mcp__a__* require-approval', 'mcp__a__read allow']);
  expect(rulesOf(configuration, 'a').join()).not.toContain('mcp__a__write');
  expect(rulesOf(configuration, 'b').at(-1)).toBe('mcp__b__* deny');
});

test('the rules of one file hold for the servers of the other', async () => {
  const configuration = await load({
    '.amp/settings.json': JSON.stringify({ 'amp.mcpServers': { a: server } }),
    '.amp/settings.jsonc': '{ "amp.tools.disable": ["mcp__a__drop"], /* more */ }',
  });
  expect(configuration.problems).toEqual([]);
  expect(rulesOf(configuration, 'a')).toEqual(['mcp__a__drop deny']);
});

test.each([
  [{ 'amp.tools.disable': 'mcp__a__x' }, 'amp.tools.disable'],
  [{ 'amp.permissions': [{ tool: 'mcp__a__x', action: 'delegate', to: 'program' }] }, 'amp.permissions.0'],
  [{ 'amp.permissions': [{ action: 'reject' }] }, 'amp.permissions.0'],
  [{ 'amp.mcpPermissions': [{ pattern: 'a__*', action: 'block' }] }, 'amp.mcpPermissions.0'],
  [{ 'amp.mcpPermissions': [{ matches: { command: '/np./' }, action: 'reject' }] }, 'amp.mcpPermissions.0'],
  [{ 'amp.mcpPermissions': [{ matches: { host: 'x' }, action: 'reject' }] }, 'amp.mcpPermissions.0'],
])('rules that cannot be understood make the servers invalid: %j', async (rules, field) => {
  const configuration = await amp({ 'amp.mcpServers': { a: server }, ...rules });
  expect(invalid(configuration, 'a').problems[0]?.field).toBe(field);
});

test('a restriction of a server that is not understood, and what is broken', async () => {
  const configuration = await amp({ 'amp.mcpServers': { a: { ...server, denyTools: true } } });
  expect(invalid(configuration, 'a').problems[0]?.field).toBe('amp.mcpServers.a.denyTools');
  expect(onlyProblem(await amp('{ "amp.mcpServers": {')).severity).toBe('error');
  expect((await amp({ 'amp.notifications.enabled': true })).problems).toEqual([]);
});
