import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { ServerSpec, ToolHints, TransportSpec } from '../../domain/index.ts';
import { draftConfiguration } from './configuration.fixture.ts';
import { compileToolKind, type ToolKind } from './tool-kind.ts';

const files: TransportSpec = {
  type: 'stdio',
  command: 'npx',
  args: ['-y', '@modelcontextprotocol/server-filesystem', '.'],
  env: {},
  cwd: '/',
};
const silent: ToolHints = { readOnly: null, destructive: null };
const saysReads: ToolHints = { readOnly: true, destructive: null };

function kind(tool: string, hints: ToolHints | null, options: { known?: boolean; trusted?: boolean } = {}): string {
  const found = compileToolKind(specOf(options))(tool, hints);
  return found.kind === 'reads' ? 'reads' : found.because;
}

test('what is known of a server needs no word of its own', () => {
  expect(kind('read_file', null, { known: true })).toBe('reads');
  expect(kind('read_file', silent, { known: true })).toBe('reads');
  expect(kind('write_file', silent, { known: true })).toBe('known-server');
});

test('a server cannot call harmless what is known to write, trusted or not', () => {
  expect(kind('write_file', saysReads, { known: true, trusted: true })).toBe('known-server');
});

test('where a server says that a tool writes, it does, whatever is known', () => {
  expect(kind('read_file', { readOnly: false, destructive: null }, { known: true, trusted: true })).toBe('annotation');
  expect(kind('read_file', { readOnly: null, destructive: true }, { known: true })).toBe('annotation');
  expect(kind('x', { readOnly: true, destructive: true }, { trusted: true })).toBe('annotation');
});

test('a tool without annotations and without a known entry may write', () => {
  expect(kind('x', null)).toBe('no-word');
  expect(kind('x', silent, { trusted: true })).toBe('no-word');
  expect(kind('constructor', silent, { known: true })).toBe('no-word');
});

test(verifies('scopes:untrusted', 'that a tool only reads is believed of a trusted server alone'), () => {
  expect(kind('x', saysReads)).toBe('untrusted-annotation');
  expect(kind('x', saysReads, { known: true })).toBe('untrusted-annotation');
  expect(kind('x', saysReads, { trusted: true })).toBe('reads');
  expect(kind('x', { readOnly: true, destructive: false }, { trusted: true })).toBe('reads');
});

test(verifies('scopes:provider-mode', 'SQL only reads where the provider was told so, by every transport'), () => {
  const url = 'https://mcp.supabase.com/mcp';
  const sql = (addresses: readonly string[], said: ToolHints | null): string => {
    const [transport, ...fallbacks] = addresses.map(
      (each): TransportSpec => ({ type: 'http', url: each, headers: {} }),
    );
    if (transport === undefined) throw new Error('an address is needed');
    const found = compileToolKind({ ...specOf({}), transport, fallbacks })('execute_sql', said);
    return found.kind === 'reads' ? 'reads' : found.because;
  };
  const ofProvider = { readOnly: true, destructive: true };
  expect(sql([`${url}?read_only=true`], null)).toBe('reads');
  expect(sql([`${url}?read_only=true`], ofProvider)).toBe('reads');
  expect(sql([`${url}?read_only=true`], { readOnly: false, destructive: true })).toBe('annotation');
  expect(sql([url], ofProvider)).toBe('known-server');
  expect(sql([`${url}?read_only=true`, url], ofProvider)).toBe('known-server');
});

const hints = fc.option(
  fc.record({
    readOnly: fc.option(fc.boolean(), { nil: null }),
    destructive: fc.option(fc.boolean(), { nil: null }),
  }),
  { nil: null },
);

test(verifies('scopes:untrusted', 'annotations of an untrusted server widen nothing'), () => {
  const tools = fc.constantFrom('read_file', 'write_file', 'list_directory', 'x', 'read_secrets', '');
  fc.assert(
    fc.property(tools, hints, fc.boolean(), (tool, said, known) => {
      const kindOf = compileToolKind(specOf({ known }));
      const widened = isReading(kindOf(tool, said)) && !isReading(kindOf(tool, null));
      expect(widened).toBe(false);
    }),
  );
});

function isReading({ kind }: ToolKind): boolean {
  return kind === 'reads';
}

function specOf({ known = false, trusted = false }): ServerSpec {
  const draft = { access: { trustAnnotations: trusted }, ...(known ? { transport: files } : {}) };
  const entry = draftConfiguration({ servers: { files: draft } }).servers.get('files');
  if (entry?.kind !== 'ready') throw new Error('a drafted server is ready');
  return entry.spec;
}
