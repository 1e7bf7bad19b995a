import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { verifies } from '../../../../test/support/verifies.ts';
import { programName } from '../program-name.ts';
import { shortLine } from './cli-logger.ts';
import { createColours } from './colours.ts';
import { printable, printableLine } from './printable.ts';
import { createTerminal } from './terminal.ts';

function stream(isTTY: boolean): PassThrough & { isTTY: boolean; columns: number } {
  return Object.assign(new PassThrough(), { isTTY, columns: 40 });
}

function written(of: PassThrough): string {
  return String(of.read() ?? '');
}

test('colours are for terminals, unless somebody asked for none', () => {
  const painted = (isTTY: boolean, env: Record<string, string>): string =>
    createTerminal({ stdout: stream(isTTY), stderr: stream(false) }, env).colours.red('x');
  expect(painted(true, {})).toBe('\u001b[31mx\u001b[39m');
  expect(painted(true, { NO_COLOR: '' })).toBe('\u001b[31mx\u001b[39m');
  expect(painted(true, { NO_COLOR: '1' })).toBe('x');
  expect(painted(true, { TERM: 'dumb' })).toBe('x');
  expect(painted(false, {})).toBe('x');
});

test('a progress line is wiped before anything else is said, and absent without a terminal', () => {
  const [stdout, stderr] = [stream(true), stream(true)];
  const terminal = createTerminal({ stdout, stderr }, {});
  terminal.progress('working '.repeat(20));
  terminal.err('said');
  expect(written(stderr)).toBe(`${'working '.repeat(20).slice(0, 39)}\r\u001b[Ksaid\n`);
  const piped = stream(false);
  createTerminal({ stdout, stderr: piped }, {}).progress('working');
  expect(written(piped)).toBe('');
});

test('sentences are wrapped on a terminal, and commands to copy are not', () => {
  const [stdout, stderr] = [stream(true), stream(true)];
  const terminal = createTerminal({ stdout, stderr }, { NO_COLOR: '1' });
  terminal.err('Next, store the value: run `qm secret set GITHUB_TOKEN` and then try it again.');
  terminal.err('  Indented lines keep their indentation when they are wrapped.');
  terminal.errWhole('  qm add files -- npx -y @modelcontextprotocol/server-filesystem .');
  expect(written(stderr).split('\n')).toEqual([
    'Next, store the value: run',
    '`qm secret set GITHUB_TOKEN` and then',
    'try it again.',
    '  Indented lines keep their indentation',
    '  when they are wrapped.',
    '  qm add files -- npx -y @modelcontextprotocol/server-filesystem .',
    '',
  ]);
  terminal.say('files.write_file is denied: no rule matches it.');
  expect(written(stdout)).toBe('files.write_file is denied: no rule\nmatches it.\n');
  const piped = stream(false);
  createTerminal({ stdout, stderr: piped }, {}).err('a line of more than forty characters in a pipe');
  expect(written(piped)).toBe('a line of more than forty characters in a pipe\n');
});

test('once the reader of stdout is gone, nothing more is written there', async () => {
  const stdout = stream(false);
  const terminal = createTerminal({ stdout, stderr: stream(false) }, {});
  stdout.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
  await new Promise((resolve) => stdout.once('close', resolve));
  expect(terminal.gone.aborted).toBe(true);
  expect(() => terminal.out('x')).not.toThrow();
});

test('control characters of others are shown, not obeyed', () => {
  expect(printable('a\u001b[2Jb\r\n\tc\u009b')).toBe('a␛[2Jb␍\n\tc␡');
  expect(printableLine('  a\n b\u0007 ')).toBe('a b␇');
});

test(
  verifies('cli:printable', 'characters that turn a line around or are not seen are escaped, and letters are not'),
  () => {
    expect(printable('safe\u202e\u2066txt.exe\u200b\u200f\ufeff\u2028')).toBe(
      'safe\\u202e\\u2066txt.exe\\u200b\\u200f\\ufeff\\u2028',
    );
    expect(printable('tag\u{e0041}')).toBe('tag\\udb40\\udc41');
    for (const text of ['naïve Ünïcode 日本語 עברית 😀❤️', '\ttab\nline']) expect(printable(text)).toBe(text);
  },
);

test(verifies('cli:printable', 'whatever is said, only colours, tabs and new lines reach the terminal raw'), () => {
  const [stdout, stderr] = [stream(true), stream(true)];
  const terminal = createTerminal({ stdout, stderr }, {});
  const hostile = `${terminal.colours.red('a')}\u001b]0;t\u0007\u001b[2J\r\u009b\u202e\u200b\tb`;
  const shown = '\u001b[31ma\u001b[39m\\u001b]0;t\\u0007\\u001b[2J\\u000d\\u009b\\u202e\\u200b\tb';
  terminal.out(hostile);
  terminal.err(hostile);
  expect(written(stdout)).toBe(`${shown}\n`);
  expect(written(stderr)).toBe(`${shown}\n`);
  const value = { name: 'x\u202e\u{e0041}y', n: 1 };
  terminal.out(JSON.stringify(value));
  const line = written(stdout);
  expect(line).not.toContain('\u202e');
  expect(JSON.parse(line)).toEqual(value);
  terminal.raw('\u202e');
  expect(written(stdout)).toBe('\u202e\n');
});

test('a log event is one short line', () => {
  const line = '{"level":"warn","time":"2026-01-02T03:04:05.678Z","server":"a b","code":"X","count":2,"event":"lost"}';
  expect(shortLine(line, { errColours: createColours(false) })).toMatch(
    /^\d\d:\d\d:\d\d warn {2}lost server="a b" code=X count=2$/,
  );
});

test('commands to copy name the program as the shell finds it', () => {
  expect(programName('/usr/bin/qm', '/home/me', '/bin:/usr/bin')).toBe('qm');
  expect(programName('/home/me/hub/bin/qm', '/home/me/hub', '/bin')).toBe('bin/qm');
  expect(programName('/home/me/qm', '/home/me', '/bin')).toBe('./qm');
  expect(programName('/opt/qm', '/home/me', '/bin')).toBe('/opt/qm');
  expect(programName(undefined, '/', undefined)).toBe('qm');
});
