import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createMovingClock } from '../../../../test/support/moving-clock.ts';
import { eventually, within } from '../../../../test/support/within.ts';
import { isAlive } from '../../../base/index.ts';
import { ToolFault } from '../../serving/index.ts';
import { callTool, createWorkshop, openGit, subjectsOf } from './git.fixture.ts';

const workshop = createWorkshop();
afterAll(() => workshop.remove());
const realGit = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();

describe('output', () => {
  test('is cut after a whole line, and the note says how to ask for less', async () => {
    const root = workshop.repository('long');
    writeFileSync(join(root, 'a.txt'), 'twenty characters ü\n'.repeat(50_000));
    workshop.git('long', 'add', '.');
    workshop.git('long', 'commit', '--quiet', '-m', 'Long');
    for (let index = 0; index < 40; index += 1)
      workshop.git('long', 'commit', '--quiet', '--allow-empty', '-m', `No ${index}`);
    const server = await openGit(root, { args: ['--max-bytes', '2048'] });
    const { text } = await callTool(server, 'git_diff', { ref: 'HEAD~41', to: 'HEAD' });
    const lines = text.split('\n');
    expect(lines.at(-1)).toBe(
      '[Truncated: the output has more than 2048 bytes. Give a path, a smaller context, or stat: true.]',
    );
    expect(lines.at(-2)).toBe('+twenty characters ü');
    expect(Buffer.byteLength(text)).toBeLessThan(2048 + 200);

    const blame = await callTool(server, 'git_blame', { file: 'a.txt' });
    expect(blame.text).toContain('Give start and end.]');
    expect(blame.structured).toMatchObject({ more: true });
    const found = await callTool(server, 'git_search', { query: 'twenty', in: 'content' });
    expect(found.text).toContain('a longer query.]');
    expect(found.structured).toMatchObject({ more: true });
    const log = await callTool(server, 'git_log', { limit: 1_000 });
    expect(log.text).toContain('[Truncated: ');
    expect(subjectsOf(log)[0]).toBe('No 39');
    for (const subject of subjectsOf(log)) expect(subject).toMatch(/^No \d+$/);
    await server.close();
  });

  test('has its bound to itself: a long configuration is no output', async () => {
    const root = workshop.repository('configured');
    const branches = Array.from({ length: 2_000 }, (_, index) => `[branch "b\\"${index}"]\n\tremote = origin\n`);
    appendFileSync(join(root, '.git/config'), branches.join(''));
    const server = await openGit(root, { args: ['--max-bytes', '1024'] });
    expect((await callTool(server, 'git_status')).text).toContain('Nothing has changed.');
    await server.close();
  });

  test('ends before a line that is too long', async () => {
    const root = workshop.repository('endless');
    writeFileSync(join(root, 'endless'), 'x'.repeat(3_000_000));
    workshop.git('endless', 'add', '.');
    const server = await openGit(root, { args: ['--max-bytes', '1024'] });
    expect((await callTool(server, 'git_diff', { staged: true })).text).toMatch(/@@ -0,0 \+1 @@\n\[Truncated: /);
    await server.close();
  });

  test('bounds that make no sense are refused', async () => {
    const root = workshop.repository('options');
    for (const args of [
      ['--max-bytes', '1'],
      ['--max-bytes', '4194305'],
      ['--timeout', '0'],
      ['--timeout', 'soon'],
      ['--bogus', 'x'],
      ['extra'],
    ]) {
      await expect(openGit(root, { args }), args.join(' ')).rejects.toMatchObject({ code: 'USAGE' });
    }
  });
});

describe('a git that does not end', () => {
  /** Its `status` waits for good, with a child of its own; their pids are in a file. Its `diff` says y for good. */
  function hanging(name: string): { root: string; tmp: string; env: Record<string, string>; pids: () => number[] } {
    const root = workshop.repository(name);
    const bin = join(workshop.dir, `${name}-bin`);
    const tmp = join(workshop.dir, `${name}-tmp`);
    const file = join(workshop.dir, `${name}-pids`);
    for (const folder of [bin, tmp]) mkdirSync(folder);
    const wait = `/bin/sleep 1000 & echo $$ $! > ${file}; wait`;
    writeFileSync(
      join(bin, 'git'),
      `#!/bin/sh\nif [ "$1" = status ]; then ${wait}; fi\n[ "$1" = diff ] && exec /usr/bin/yes\nexec ${realGit} "$@"\n`,
    );
    chmodSync(join(bin, 'git'), 0o755);
    const pids = (): number[] =>
      existsSync(file) ? readFileSync(file, 'utf8').trim().split(' ').filter(Boolean).map(Number) : [];
    return { root, tmp, env: { PATH: bin, TMPDIR: tmp }, pids };
  }

  const runs = (pid: number): boolean => isAlive({ pid, start: undefined });

  async function gone({ pids, tmp }: Pick<ReturnType<typeof hanging>, 'pids' | 'tmp'>): Promise<void> {
    expect(pids()).toHaveLength(2);
    await eventually(() => pids().every((pid) => !runs(pid)), 'the end of git and its child');
    expect(readdirSync(tmp)).toEqual([]);
  }

  test('is ended when it has said too much', async () => {
    const git = hanging('talkative');
    const server = await openGit(git.root, { env: git.env, args: ['--max-bytes', '1024'] });
    expect((await callTool(server, 'git_diff')).text).toMatch(/^(?:y\n){512}\[Truncated: /);
    await server.close();
  });

  test('is ended when time is up', async () => {
    const git = hanging('late');
    const clock = createMovingClock();
    const server = await openGit(git.root, { args: ['--timeout', '30'], env: git.env, clock });
    const answer = callTool(server, 'git_status');
    await eventually(() => git.pids().length === 2, 'git to run');
    clock.advance(29_000);
    expect(git.pids().every(runs)).toBe(true);
    clock.advance(1_000);
    await expect(answer).rejects.toThrow('git took longer than 30 seconds and was ended.');
    await gone(git);
    expect(clock.waiting).toBe(0);
    await server.close();
  });

  test('is ended when the caller gives up', async () => {
    const git = hanging('given-up');
    const server = await openGit(git.root, { env: git.env });
    const caller = new AbortController();
    const answer = callTool(server, 'git_status', {}, caller.signal);
    await eventually(() => git.pids().length === 2, 'git to run');
    caller.abort();
    await expect(answer).rejects.toThrow(ToolFault);
    await gone(git);
    await expect(callTool(server, 'git_log', {}, caller.signal)).rejects.toThrow('cancelled before git finished');
    await server.close();
  });

  test('is ended when the server is closed, and none starts after that', async () => {
    const git = hanging('closed');
    const server = await openGit(git.root, { env: git.env });
    const answer = callTool(server, 'git_status').catch((error: unknown) => error);
    await eventually(() => git.pids().length === 2, 'git to run');
    await within(server.close(), 'the server to close');
    expect(readdirSync(git.tmp)).toEqual([]);
    await gone(git);
    expect(await answer).toBeInstanceOf(ToolFault);
    await expect(callTool(server, 'git_log')).rejects.toThrow(ToolFault);
    await server.close();
  });
});

test('calls at the same time do not meet', async () => {
  const clock = createMovingClock();
  const server = await openGit(workshop.repository('together'), { clock });
  const answers = await Promise.all(Array.from({ length: 12 }, () => callTool(server, 'git_diff', { ref: 'HEAD' })));
  expect(new Set(answers.map(({ text }) => text))).toEqual(new Set(['No differences.']));
  expect(clock.waiting).toBe(0);
  await server.close();
});

test('a repository that went away is a fault, not a defect', async () => {
  const root = workshop.repository('gone');
  const server = await openGit(root);
  execFileSync('mv', [root, `${root}-elsewhere`]);
  await expect(callTool(server, 'git_status')).rejects.toThrow(ToolFault);
  await expect(callTool(server, 'git_log', { path: 'src/b.txt' })).rejects.toThrow(ToolFault);
  await server.close();
});

test('however many calls come at once, eight are worked on', async () => {
  const root = workshop.repository('busy');
  const bin = join(workshop.dir, 'counting');
  mkdirSync(bin);
  const log = join(workshop.dir, 'counted');
  const go = join(workshop.dir, 'go');
  // Each status says when it begins, waits until the test has counted, and says when it ends.
  const wait = `tries=0; while [ ! -e ${go} ] && [ $tries -lt 1200 ]; do /bin/sleep 0.05; tries=$((tries + 1)); done`;
  const status = `echo begin >> ${log}; ${wait}; ${realGit} "$@"; code=$?; echo end >> ${log}; exit $code`;
  const script = `#!/bin/sh\nif [ "$1" = status ]; then ${status}; fi\nexec ${realGit} "$@"\n`;
  writeFileSync(join(bin, 'git'), script);
  chmodSync(join(bin, 'git'), 0o755);
  writeFileSync(log, '');
  const server = await openGit(root, { env: { PATH: `${bin}:${process.env.PATH}` }, clock: createMovingClock() });
  const words = () => readFileSync(log, 'utf8').trim().split('\n');
  const answers = Promise.all(Array.from({ length: 40 }, () => callTool(server, 'git_status')));
  await eventually(() => words().length === 8, 'eight runs of git to begin');
  writeFileSync(go, '');
  expect(await answers).toHaveLength(40);
  await server.close();
  let [now, most] = [0, 0];
  for (const word of words()) {
    now += word === 'begin' ? 1 : -1;
    most = Math.max(most, now);
  }
  expect(most).toBe(8);
});
