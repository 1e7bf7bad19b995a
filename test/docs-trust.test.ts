import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readUserSettings } from '../src/config/index.ts';
import { makeWorkspace, runQm } from './scenarios/qm.fixture.ts';
import { runOnScreen } from './scenarios/screen.fixture.ts';
import { eventually } from './support/within.ts';

const page = readFileSync(resolve(import.meta.dirname, '..', 'docs', 'guides', 'trust.md'), 'utf8');
const asks = { XDG_CONFIG_HOME: '/nonexistent' };

const entry = ['npx', '-y', '@modelcontextprotocol/server-filesystem', '.'];

async function cloned(): Promise<string> {
  const workspace = await makeWorkspace();
  const [command, ...args] = entry;
  const text = `{\n  "mcpServers": {\n    "files": ${JSON.stringify({ command, args })}\n  }\n}\n`;
  await writeFile(join(workspace, '.mcp.json'), text);
  return workspace;
}

const guide = (name: string): string =>
  readFileSync(resolve(import.meta.dirname, '..', 'docs', 'guides', name), 'utf8');

test('the settings of docs/guides/trust.md trust the folders that they name', async () => {
  const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
  const home = await makeWorkspace();
  await mkdir(join(home, '.config', 'quartermaster'), { recursive: true });
  await writeFile(join(home, '.config', 'quartermaster', 'config.yaml'), yaml);
  expect(await readUserSettings({ HOME: home })).toMatchObject({ trustPaths: [join(home, 'work')] });
});

test('the workflow of docs/guides/docker-and-ci.md pins a digest and runs a command that there is', () => {
  const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(guide('docker-and-ci.md')) ?? [];
  const { jobs } = parse(yaml) as { jobs: { agents: { env: Record<string, string>; steps: { run?: string }[] } } }; // as written
  expect(Object.keys(jobs.agents.env)).toEqual(['QM_TRUST']);
  expect(jobs.agents.steps.map(({ run }) => run)).toContain('npx quartermaster doctor');
});

test('docs/guides/trust.md shows the question as it is asked', async () => {
  const [, shown = ''] = /\$ qm trust\n([\s\S]*?)\n```/.exec(page) ?? [];
  const screen = runOnScreen(['trust'], {
    workspace: await cloned(),
    columns: 100,
    env: { ...asks, NO_COLOR: '1', HOME: await makeWorkspace() },
  });
  await eventually(() => screen.stderr().includes('Approve?'), 'the question');
  screen.type('\x03');
  await screen.ended;
  // A terminal moves the cursor before it asks.
  const plain = stripVTControlCharacters(screen.stderr());
  expect(plain).toContain(shown.trimEnd());
});

test('the digest of docs/guides/trust.md pins what is on disk', async () => {
  expect(page).toContain('qm trust --show --json | jq -r .digest');
  const workspace = await cloned();
  const { stdout } = await runQm(['trust', '--show', '--json', '--workspace', workspace], { env: asks });
  const { digest } = JSON.parse(stdout) as { digest: string }; // the documented shape
  const pinned = await runQm(['ls', '--json', '--workspace', workspace], { env: { ...asks, QM_TRUST: digest } });
  expect(pinned.stdout).toContain('"state":"idle"');
  const other = await runQm(['ls', '--json', '--workspace', workspace], {
    env: { ...asks, QM_TRUST: `sha256:${'0'.repeat(64)}` },
  });
  expect(other.stdout).toContain('"state":"untrusted"');
});
