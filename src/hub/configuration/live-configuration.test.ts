import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { createSilentLogger } from '../../base/index.ts';
import { createManualClock } from '../../base/manual-clock.fixture.ts';
import { loadWithSources } from '../../config/index.ts';
import { trustEverything } from '../../workspace-trust/trust-everything.ts';
import { LiveConfiguration } from './live-configuration.ts';

const yaml = 'quartermaster.yaml';
const server = JSON.stringify({ mcpServers: { up: { command: 'x' } } });

function rules(...denied: readonly string[]): string {
  return [
    'version: 1',
    'policies:',
    '  tools:',
    '    a.b: allow',
    ...denied.map((tool) => `    ${tool}: deny`),
    '',
  ].join('\n');
}

/** A configuration that looks at its files only when it is told to, as if no event came. */
async function follow(files: Readonly<Record<string, string>>) {
  const workspace = mkdtempSync(join(tmpdir(), 'qm-live-'));
  onTestFinished(() => rmSync(workspace, { recursive: true }));
  const put = (file: string, text: string): void => {
    mkdirSync(dirname(join(workspace, file)), { recursive: true });
    writeFileSync(join(workspace, file), text);
  };
  for (const [file, text] of Object.entries(files)) put(file, text);
  const clock = createManualClock();
  const load: ConstructorParameters<typeof LiveConfiguration>[0]['load'] = (instead) =>
    loadWithSources({ env: {} }, { workspace, instead });
  const first = await load();
  const trust = trustEverything(new Uint8Array(32), first);
  const deps = { clock, logger: createSilentLogger(), emit: () => {}, load, trust, watch: undefined };
  const live = new LiveConfiguration(deps, {
    disk: first,
    files: { loaded: first, retained: [], at: clock.now() },
    judged: await trust.judge(first),
  });
  onTestFinished(() => live.close());
  const waitsAgain = (): Promise<void> => vi.waitFor(() => expect(clock.waiting).toBe(1), { timeout: 10_000 });
  return { live, put, clock, waitsAgain };
}

test(verifies('config:absence', 'a change of which no event came starts the three quiet seconds anew'), async () => {
  const { live, put, clock, waitsAgain } = await follow({ '.mcp.json': server, [yaml]: rules('up.write', 'up.drop') });
  put(yaml, rules('up.drop'));
  live.follow();
  await waitsAgain();
  await vi.waitFor(() => expect(live.pending).toHaveLength(1), { timeout: 10_000 });
  put(yaml, rules());
  clock.advance(3000);
  await waitsAgain();
  expect(live.pending).toHaveLength(1);
  clock.advance(3000);
  await vi.waitFor(() => expect(live.pending).toEqual([]), { timeout: 10_000 });
});

test(
  verifies('config:absence', 'the timer of an earlier change does not settle a later one that is being read'),
  async () => {
    const { live, put, clock, waitsAgain } = await follow({
      '.mcp.json': server,
      [yaml]: rules('up.write', 'up.drop'),
    });
    put(yaml, rules('up.write', 'up.drop', 'up.more'));
    live.follow();
    await waitsAgain();
    // The second change is noticed, and the three seconds after the first one end while it is being read.
    put(yaml, rules());
    live.follow();
    clock.advance(3000);
    await live.reload([]);
    await waitsAgain();
    expect(live.pending).toHaveLength(1);
    clock.advance(3000);
    await vi.waitFor(() => expect(live.pending).toEqual([]), { timeout: 10_000 });
  },
);

test(
  verifies('config:absence', 'taking up one file at once does not settle another that changed a moment ago'),
  async () => {
    const { live, put, clock, waitsAgain } = await follow({ '.mcp.json': server, [yaml]: rules('up.drop') });
    put(yaml, rules());
    live.follow();
    await waitsAgain();
    put('.mcp.json', JSON.stringify({ mcpServers: { up: { command: 'x' }, more: { command: 'y' } } }));
    await live.reload(['.mcp.json']);
    expect([...live.configuration.servers.keys()].sort()).toEqual(['more', 'up']);
    expect(live.pending).toHaveLength(1);
    clock.advance(3000);
    await vi.waitFor(() => expect(live.pending).toEqual([]), { timeout: 10_000 });
  },
);

// Without text the first is a mistake, the second is valid.
test.each([
  ['.mcp.json', server],
  ['.codex/config.toml', '[mcp_servers.up]\ncommand = "x"\n'],
])(
  verifies('config:absence', '%s: a file of servers that is empty keeps them, however long it stays so'),
  async (file, text) => {
    const { live, put, clock, waitsAgain } = await follow({ [file]: text, [yaml]: rules() });
    put(file, '');
    live.follow();
    await waitsAgain();
    await vi.waitFor(() => expect(live.notices()).toHaveLength(1), { timeout: 10_000 });
    for (let turn = 0; turn < 3; turn++) {
      clock.advance(3000);
      // Comes after the look that the time brought, and takes up no file.
      await live.reload([]);
    }
    expect([...live.configuration.servers.keys()]).toEqual(['up']);
  },
);
