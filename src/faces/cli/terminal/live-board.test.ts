import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createManualClock } from '../../../base/manual-clock.fixture.ts';
import { createLiveBoard } from './live-board.ts';
import { createTerminal } from './terminal.ts';

interface Screen extends PassThrough {
  isTTY: boolean;
  columns: number;
  rows: number;
}

function screen(columns: number, rows: number): Screen {
  return Object.assign(new PassThrough(), { isTTY: true, columns, rows });
}

function stage(names: readonly string[], columns = 60, rows = 20) {
  const clock = createManualClock();
  const stderr = screen(columns, rows);
  const terminal = createTerminal({ stdout: screen(columns, rows), stderr }, { NO_COLOR: '1' });
  const board = createLiveBoard({ clock, terminal }, names);
  /** What was written since the last look, and the lines of the last frame in it. */
  const look = (): { written: string; lines: string[] } => {
    const written = String(stderr.read() ?? '');
    const frame = written.split('\u001b[J').at(-2) ?? '';
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
    const text = frame.replace(/\u001b\[[?\d]*[A-Zhl]|\r/g, '');
    return { written, lines: text.split('\n').slice(0, -1) };
  };
  return { clock, stderr, board, look };
}

test('each server has a line with its time, redrawn in place', () => {
  const { clock, board, look } = stage(['files', 'memory']);
  board.begin('files', 'trying http');
  clock.advance(100);
  const first = look();
  expect(first.written).toContain('\u001b[?25l');
  expect(first.lines[0]).toMatch(/^\S files {4}0\.1 s {2}trying http$/);
  expect(first.lines[1]).toBe('· memory          waiting');
  board.goOn('files', 'http answered 405, trying sse');
  clock.advance(1900);
  expect(look().lines[0]).toMatch(/2\.0 s {2}http answered 405, trying sse$/);
  board.end('files', { mark: '✓', text: 'reachable', colour: 'green' });
  clock.advance(5000);
  const last = look();
  expect(last.lines[0]).toBe('✓ files    2.0 s  reachable');
  // Up over both lines, never a new screen.
  expect(last.written).toContain('\r\u001b[2A');
});

test('lines are cut to the terminal, as wide as it is now', () => {
  const { clock, stderr, board, look } = stage(['a-server-with-a-long-name'], 30);
  board.begin('a-server-with-a-long-name', 'trying http');
  clock.advance(100);
  expect(look().lines).toEqual([expect.stringMatching(/^.{29}$/u)]);
  stderr.columns = 12;
  clock.advance(100);
  expect(look().lines).toEqual([expect.stringMatching(/^\S a-server…$/)]);
});

test('more servers than rows: those starting are seen, the others counted', () => {
  const names = Array.from({ length: 30 }, (_, index) => `s${index}`);
  const { clock, board, look } = stage(names, 60, 8);
  board.begin('s29', 'trying stdio');
  clock.advance(100);
  const { lines } = look();
  expect(lines).toHaveLength(6);
  expect(lines[0]).toContain('trying stdio');
  expect(lines[5]).toBe('… 25 more');
});

test('at the end the lines are gone, the cursor is back and no timer is left', () => {
  const { clock, board, look } = stage(['files']);
  board.begin('files', 'trying http');
  clock.advance(100);
  look();
  board.stop();
  board.stop();
  expect(look().written).toBe('\r\u001b[1A\u001b[J\u001b[?25h');
  expect(clock.waiting).toBe(0);
});

test.each([
  ['a pipe', {}, false],
  ['a terminal that cannot move its cursor', { TERM: 'dumb' }, true],
  ['an unattended job', { CI: 'true' }, true],
])('nothing moves on %s', (_where, env, isTTY) => {
  const clock = createManualClock();
  const [stdout, stderr] = [screen(80, 24), screen(80, 24)];
  stdout.isTTY = isTTY;
  const board = createLiveBoard({ clock, terminal: createTerminal({ stdout, stderr }, env) }, ['files']);
  board.begin('files', 'trying http');
  clock.advance(1000);
  board.stop();
  expect(stderr.read()).toBeNull();
  expect(clock.waiting).toBe(0);
});
