import { execFile, spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pidsOfHub } from '../../../src/upstream/children/fixtures/processes.mjs';
import { fixturePath } from '../../support/fixture-servers.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, within } from '../../support/within.ts';
import {
  copyContext,
  giveToImageUser,
  type Instruction,
  imageUser,
  playStage,
  readStages,
} from './dockerfile.fixture.ts';
import { copySource, removeFolder, root, temporaryFolder } from './packed.fixture.ts';

const stages = readStages(readFileSync(join(root, 'Dockerfile'), 'utf8'));
const last = stages.at(-1) ?? [];
const page = readFileSync(join(root, 'docs', 'guides', 'docker-and-ci.md'), 'utf8');
let folder = '';
let image = '';

beforeAll(async () => {
  folder = await temporaryFolder();
  await chmod(folder, 0o755);
  const [repository, context] = [join(folder, 'repository'), join(folder, 'context')];
  await copySource(repository);
  await writeFile(join(repository, '.env'), 'TOKEN=secret-of-the-builder\n');
  await copyContext(repository, context);
  const build = join(folder, 'build');
  await playStage(stages[0] ?? [], { image: build, context, from: {} });
  image = join(folder, 'image');
  await mkdir(join(image, 'usr/local/bin'), { recursive: true });
  const { left } = await playStage(last, { image, context, from: { build } });
  console.log(`Not run, for it installs system packages: ${left.join(' ')}`);
});

afterAll(() => removeFolder(folder));

const textOf = (word: Instruction['word']): string => last.find((one) => one.word === word)?.text ?? '';
const listOf = (word: string): string[] => JSON.parse(textOf(word)) as string[];

test('the image has the package with its own packages, and nothing of the machine that built it', () => {
  const home = join(image, 'opt/quartermaster');
  expect(readdirSync(home)).toEqual(expect.arrayContaining(['bin', 'dist', 'node_modules', 'package.json', 'LICENSE']));
  expect(readdirSync(join(home, 'dist')).sort()).toEqual(['chunks', 'library', 'qm']);
  for (const absent of ['src', 'test', '.env', '.npmrc']) expect(existsSync(join(home, absent)), absent).toBe(false);
  expect(readdirSync(join(home, 'node_modules'))).not.toContain('vitest');
  expect(existsSync(join(folder, 'context', '.env'))).toBe(false);
  const shown = spawnSync('grep', ['-rl', 'secret-of-the-builder', image], { encoding: 'utf8' });
  expect(shown.stdout).toBe('');
  expect(statSync(join(image, 'state')).mode & 0o777).toBe(0o700);
});

test('it runs as an ordinary user, with a volume for its state and no secret in its environment', () => {
  expect(textOf('USER')).toBe('node');
  expect(last.findIndex(({ word }) => word === 'USER')).toBeLessThan(
    last.findIndex(({ word }) => word === 'ENTRYPOINT'),
  );
  expect(textOf('VOLUME')).toBe('/state');
  expect(textOf('ENV')).toBe('NODE_ENV=production QM_STATE_DIR=/state QM_KEYCHAIN=off');
  expect(stages.flat().map(({ word }) => word)).not.toContain('ARG');
});

test('the page runs the image as the Dockerfile expects it', () => {
  expect(page).toContain(`-v quartermaster-state:${textOf('VOLUME')}`);
  expect(page).toContain(`:${textOf('EXPOSE')}`);
  expect(page).toContain(`:${last.findLast(({ word }) => word === 'WORKDIR')?.text}`);
});

test(verifies('package:container', 'the entry point serves, is healthy, and ends in order on SIGTERM'), async () => {
  const workspace = join(image, 'workspace');
  const servers = { echo: { command: process.execPath, args: [fixturePath('echo-stdio.mjs')] } };
  await writeFile(join(workspace, 'quartermaster.yaml'), JSON.stringify({ servers }));
  await giveToImageUser(join(workspace, 'quartermaster.yaml'));
  const port = await freePort();
  const here = (word: string): string => word.replaceAll('4680', String(port)).replace('0.0.0.0', '127.0.0.1');
  const env = {
    ...{ PATH: `${join(image, 'usr/local/bin')}:${process.env.PATH}`, HOME: workspace, NODE_ENV: 'production' },
    ...{ QM_STATE_DIR: join(image, 'state'), QM_KEYCHAIN: 'off' },
  };
  const [program = '', ...args] = entryPoint([...listOf('ENTRYPOINT'), ...listOf('CMD')].map(here));
  const container = spawn(program, [...args, '--trust'], {
    cwd: workspace,
    env,
    ...imageUser,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [container.stdout, container.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const ended = new Promise<number | null>((resolve) => container.once('close', resolve));
  const isHealthy = async (): Promise<boolean> => {
    const [check = '', ...rest] = (JSON.parse(textOf('HEALTHCHECK').replace(/^.*? CMD /, '')) as string[]).map(here);
    return promisify(execFile)(check, rest, { cwd: workspace, env, ...imageUser }).then(
      () => true,
      () => false,
    );
  };
  try {
    expect(await isHealthy()).toBe(false);
    await eventually(async () => {
      if (container.exitCode !== null) throw new Error(`it ended: ${said}`);
      return isHealthy();
    }, 'the health check');
    const { pid } = servedBy(join(image, 'state'));
    await eventually(() => pidsOfHub(pid).length > 0, 'the server to start');
    const { stdout: uid } = await promisify(execFile)('ps', ['-o', 'uid=', '-p', String(pid)]);
    expect(Number(uid)).toBe(imageUser.uid);
    container.kill('SIGTERM');
    expect(await within(ended, 'the end of the container')).toBe(0);
    expect(pidsOfHub(pid)).toEqual([]);
    expect(await isHealthy()).toBe(false);
  } finally {
    container.kill('SIGKILL');
  }
});

/** Without tini on this machine, the hub is started directly. As process 1 of no container, tini has to be told to reap. */
function entryPoint([init = '', ...rest]: readonly string[]): string[] {
  expect(init).toBe('tini');
  if (spawnSync('tini', ['--version']).error === undefined) return [init, '-s', ...rest];
  console.log('Not checked: that tini hands signals on. It is not installed.');
  return rest.slice(1);
}

function servedBy(state: string): { pid: number } {
  const [workspace = ''] = readdirSync(join(state, 'workspaces'));
  return JSON.parse(readFileSync(join(state, 'workspaces', workspace, 'serve.json'), 'utf8')) as { pid: number };
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
