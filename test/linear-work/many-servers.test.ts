import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Reader } from '../../src/config/readers/reader.ts';
import { verifies } from '../support/verifies.ts';
import { createWorkCounter, type WorkCounter } from './counted-work.ts';

let counter: WorkCounter;

beforeAll(async () => {
  counter = await createWorkCounter();
});

afterAll(() => counter.close());

const program = { command: 'x' };

function named<V>(count: number, start: string, value: V): Record<string, V> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`${start}${index}`, value]));
}

/** Files with as many servers as names of tools that concern all of them. */
const files: Readonly<Record<string, (count: number) => object>> = {
  '.gemini/settings.json': (count) => ({
    mcpServers: named(count, 's', program),
    tools: { exclude: Object.keys(named(count, 't', 0)) },
  }),
  '.qwen/settings.json': (count) => ({
    mcpServers: named(count, 's', program),
    permissions: { deny: Object.keys(named(count, '*t', 0)) },
  }),
  'crush.json': (count) => ({
    mcp: named(count, 's', { type: 'stdio', command: 'x' }),
    options: { disabled_tools: Object.keys(named(count, 't', 0)) },
  }),
  '.zed/settings.json': (count) => ({
    context_servers: named(count, 's', program),
    agent: { tool_permissions: { tools: named(count, 'mcp:*t', { default: 'deny' }) } },
  }),
  'opencode.json': (count) => ({
    mcp: named(count, 's', { type: 'local', command: ['x'] }),
    permission: named(count, '*t', 'deny'),
  }),
};

test.each(Object.keys(files))(
  verifies('cost:linear', 'many servers beside many names in %s cost no more than both'),
  async (file) => {
    const { readers } = await import('../../src/config/readers/precedence.ts');
    const reader = readers.find(({ place }) => 'file' in place && place.file === file);
    if (reader === undefined) throw new Error(`no reader for ${file}`);
    const [few, many] = [await work(reader, file, 100), await work(reader, file, 800)];
    expect(many / few).toBeLessThan(12);
  },
  240_000,
);

async function work(reader: Reader, file: string, servers: number): Promise<number> {
  const { createWorkspace } = await import('../../src/config/workspace.fixture.ts');
  const { loadWithSources } = await import('../../src/config/load-configuration.ts');
  const { trustItems } = await import('../../src/trust/index.ts');
  const text = JSON.stringify(files[file]?.(servers));
  const parsed = reader.parse(text, file);
  if (parsed.kind !== 'tree') throw new Error(`${file} is not understood`);
  const reading = await counter.count(
    () => reader.read(parsed.root, file, async () => ({ kind: 'absent' })),
    Number.POSITIVE_INFINITY,
  );
  const secrets = { file: 'secrets.json', values: async () => new Map() };
  const subject = await loadWithSources({ env: {}, secrets }, { workspace: await createWorkspace({ [file]: text }) });
  expect(subject.configuration.servers.size).toBe(servers);
  const trusting = await counter.count(() => trustItems(subject, new Uint8Array(32)), Number.POSITIVE_INFINITY);
  return reading + trusting;
}
