import { expect, test } from 'vitest';
import type { TransportSpec } from './configuration.ts';
import { inReadOnlyMode, isInReadOnlyMode } from './read-only-mode.ts';

const http = (url: string): TransportSpec => ({ type: 'http', url, headers: {} });
const npx = (...args: string[]): TransportSpec => ({ type: 'stdio', command: 'npx', args, env: {}, cwd: '/' });

test.each([
  [http('https://mcp.supabase.com/mcp'), http('https://mcp.supabase.com/mcp?read_only=true')],
  [
    http('https://mcp.supabase.com/mcp?project_ref=x&read_only=false'),
    http('https://mcp.supabase.com/mcp?project_ref=x&read_only=true'),
  ],
  [http('https://mcp.supabase.com/mcp?a=b/c'), http('https://mcp.supabase.com/mcp?a=b/c&read_only=true')],
  [http('https://mcp.supabase.com/mcp#x'), http('https://mcp.supabase.com/mcp?read_only=true#x')],
  [
    npx('-y', 'mcp-remote', 'https://mcp.supabase.com/mcp'),
    npx('-y', 'mcp-remote', 'https://mcp.supabase.com/mcp?read_only=true'),
  ],
])('the provider is told to only read: %j', (transport, expected) => {
  expect(isInReadOnlyMode(transport)).toBe(false);
  expect(inReadOnlyMode(transport)).toEqual(expected);
  expect(isInReadOnlyMode(expected)).toBe(true);
});

test.each([
  http('https://example.com/mcp?x=1'),
  http('http://mcp.supabase.com/mcp'),
  http('https://mcp.supabase.com.example/mcp'),
  http('https://mcp.supabase.com@example.com/mcp'),
  http('not a url'),
  npx('-y', 'x', 'mcp.supabase.com'),
])('another address stays as it is: %j', (transport) => {
  expect(inReadOnlyMode(transport)).toEqual(transport);
  expect(isInReadOnlyMode(transport)).toBe(false);
});

test('two words about it are not believed, and a flag counts', () => {
  expect(isInReadOnlyMode(http('https://mcp.supabase.com/mcp?read_only=true&read_only=false'))).toBe(false);
  expect(isInReadOnlyMode(npx('-y', '@supabase/mcp-server-supabase', '--read-only'))).toBe(true);
});
