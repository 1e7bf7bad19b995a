import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Parser } from 'htmlparser2';
import { expect, onTestFinished, test } from 'vitest';
import { makeWorkspace, startQm } from './scenarios/qm.fixture.ts';
import { readScenes } from './support/doc-blocks.ts';
import { eventually } from './support/within.ts';

const root = resolve(import.meta.dirname, '..');
const name = 'docs/guides/run-as-a-service.md';
const page = readFileSync(join(root, name), 'utf8');
const blocks = readScenes(name, page)
  .flatMap((scene) => scene.blocks)
  .filter(({ kind }) => kind === 'checked');
const block = (language: string): string => blocks.find((each) => each.language === language)?.text ?? '';
const setting = (key: string): string => new RegExp(`^${key}=(.*)$`, 'm').exec(block('ini'))?.[1] ?? '';

test('systemd accepts the unit', async () => {
  if (spawnSync('systemd-analyze', ['--version']).error !== undefined) {
    console.log('Not checked by systemd-analyze, which is not installed: the unit of the page.');
    return;
  }
  const folder = await mkdtemp(join(tmpdir(), 'qm-unit-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const verify = async (unit: string): Promise<string> => {
    await writeFile(join(folder, 'quartermaster.service'), unit);
    const args = ['--user', 'verify', join(folder, 'quartermaster.service')];
    const env = { PATH: process.env.PATH, HOME: folder, XDG_RUNTIME_DIR: folder };
    const run = await promisify(execFile)('systemd-analyze', args, { env }).catch((error: { stderr: string }) => error);
    return run.stderr;
  };
  // Only programs that exist are accepted.
  const unit = block('ini').replace('/usr/local/bin/qm', join(root, 'bin', 'qm'));
  expect(await verify(unit)).toBe('');
  expect(await verify(unit.replace('KillMode=mixed', 'KillMode=gently'))).toContain('gently');
});

test('the command of the unit serves, and a signal to the hub alone ends everything within the time that is given', async () => {
  const [program, ...args] = setting('ExecStart').split(' ');
  expect(program).toMatch(/\/qm$/);
  expect([setting('KillMode'), Number(setting('TimeoutStopSec'))]).toEqual(['mixed', 30]);
  const workspace = await makeWorkspace({ agents: { tester: {} } });
  const hub = startQm([...args.join(' ').replace('4680', '0').split(' '), '--json'], { cwd: workspace });
  const { url } = JSON.parse(await hub.line()) as { url: string };
  await eventually(async () => (await fetch(`${url}/readyz`)).ok, 'the hub to be ready');
  hub.signal('SIGTERM');
  expect((await hub.ended()).code).toBe(0);
});

test('options that break Node or servers are only warned of', () => {
  for (const option of ['MemoryDenyWriteExecute', 'RestrictNamespaces', 'ProtectHome', 'ProtectSystem']) {
    expect(block('ini')).not.toContain(option);
    expect(page).toContain(option);
  }
});

test('the file for launchd is well formed and starts the same', () => {
  const implied: string[] = [];
  const texts: string[] = [];
  const parser = new Parser(
    {
      ontext: (text) => void texts.push(text),
      onclosetag: (tag, isImplied) => void (isImplied && !['true', 'false'].includes(tag) && implied.push(tag)),
    },
    { xmlMode: true },
  );
  parser.end(block('xml'));
  expect(implied).toEqual([]);
  const words = texts.map((text) => text.trim()).filter((text) => text !== '');
  const start = words.indexOf('/usr/local/bin/qm');
  expect(words.slice(start, start + 4).join(' ')).toBe(setting('ExecStart'));
  expect(words.filter((word) => /^[A-Z]\w+$/.test(word))).toEqual(
    expect.arrayContaining([
      'Label',
      'ProgramArguments',
      'WorkingDirectory',
      'KeepAlive',
      'ExitTimeOut',
      'StandardErrorPath',
    ]),
  );
});

test('the commands of the page are shell, name the unit, and exist in qm', () => {
  const shell = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
  expect(shell).toHaveLength(3);
  for (const text of shell) execFileSync('sh', ['-n'], { input: text });
  const named = shell.join('').matchAll(/systemctl --user \S+ (?:--now )?(\w+)$|--unit (\w+)/gm);
  expect(new Set([...named].map(([, one, two]) => one ?? two))).toEqual(new Set(['quartermaster']));
  for (const [, command = ''] of shell.join('').matchAll(/^qm ((?:[a-z]+ ?)+)/gm)) {
    execFileSync(process.execPath, [join(root, 'bin', 'qm'), ...command.trim().split(' '), '--help']);
  }
  const rotation = blocks.find(({ language }) => language === '')?.text ?? '';
  expect(rotation).toMatch(/^\/home\/me\/quartermaster\.log \{\n( {2}[a-z]+( \w+)?\n)+\}\n$/);
  expect(rotation).toContain('copytruncate');
  expect(page).toContain('StandardError=append:%h/quartermaster.log');
});
