import { execFile } from 'node:child_process';
import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { readers } from '../../../src/config/readers/precedence.ts';
import { removeState } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';
import { configure, makeWorkspace, runQm, serveQm } from '../qm.fixture.ts';

/** Makes something in the place of a file. */
const kinds: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  'a named pipe': (path) => promisify(execFile)('mkfifo', [path]),
  'a folder': (path) => mkdir(path),
  'a device': (path) => symlink('/dev/zero', path),
  'a sparse file of 5 GB': (path) => writeFile(path, '').then(() => truncate(path, 5_000_000_000)),
  'a socket': async (path) => {
    const server = createServer();
    await new Promise<void>((done) => server.listen(path, done));
    onTestFinished(() => void server.close());
  },
};

const configFiles = readers.flatMap(({ place }) => {
  if ('file' in place) return place.file === 'quartermaster.yaml' ? [] : [place.file];
  return 'tree' in place
    ? place.names.map((name) => join(place.tree, 'a', name))
    : place.endings.map((ending) => join(place.folder, `a${ending}`));
});
const aboutRunners = ['.git', 'package.json', '.npmrc'];
const files = [
  ...configFiles,
  ...aboutRunners,
  ...aboutRunners.map((name) => join('..', name)),
  ...['.env', 'extra.env', 'server.mjs', '.runs', 'node_modules/x', '.quartermaster/tokens.json'],
  ...['.yarnrc.yml', '.pnpmfile.cjs', 'bunfig.toml', 'tsconfig.json'],
];

const servers = {
  guarded: { command: ['npx', '-y', 'x'] },
  script: { command: ['node', './server.mjs'] },
  others: { command: ['pnpm', 'dlx', 'x'], envFile: 'extra.env' },
  typed: { command: ['tsx', '/opt/x.ts'] },
};

/** A folder in a folder, so that the outer one can be filled too. */
async function makeInnerWorkspace(): Promise<string> {
  const workspace = join(await makeWorkspace(), 'team');
  await mkdir(workspace);
  onTestFinished(() => removeState(workspace));
  await configure(workspace, { servers });
  return workspace;
}

test.each(Object.keys(kinds))(
  verifies('files:plain-only', '%s in the place of each file that qm reads stops no command'),
  async (kind) => {
    expect(files.length).toBeGreaterThan(30);
    const workspace = await makeInnerWorkspace();
    for (const file of files) {
      await mkdir(dirname(join(workspace, file)), { recursive: true });
      await kinds[kind]?.(join(workspace, file));
    }
    for (const command of [
      ['ls'],
      ['trust', '--show'],
      ['calls'],
      ['agents'],
      ['add', 'more', '--', 'node', '/x.js'],
    ]) {
      const { code, stderr } = await runQm([...command, '--workspace', workspace]);
      expect(code, `qm ${command[0]}`).not.toBeNull();
      // A stack would be a defect.
      expect(stderr, `qm ${command[0]}`).not.toMatch(/^ {4}at /m);
    }
    const { stdout } = await runQm(['ls', '--workspace', workspace]);
    for (const name of Object.keys(servers)) expect(stdout).toContain(name);
  },
);

test(verifies('files:plain-only', 'a running hub takes up a change beside named pipes'), async () => {
  const workspace = await makeInnerWorkspace();
  await serveQm(workspace);
  for (const file of [...aboutRunners, '../package.json']) await kinds['a named pipe']?.(join(workspace, file));
  await configure(workspace, { servers: { ...servers, later: { command: ['npx', '-y', 'later'] } } });
  await eventually(async () => {
    const { stdout } = await runQm(['ls', '--workspace', workspace]);
    return stdout.includes('later') && !stdout.includes('No hub is running') ? true : undefined;
  }, 'the hub to know the new server');
});
