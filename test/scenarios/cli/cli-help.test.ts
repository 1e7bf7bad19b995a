import { tmpdir } from 'node:os';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from '../../../src/faces/cli/program.ts';
import { verifies } from '../../support/verifies.ts';
import { openHere, runHere } from '../run-here.fixture.ts';

const qm = (...args: string[]) => runHere(args, { cwd: tmpdir() });

/** The commands as the program defines them, which do nothing when they are called. */
function idleProgram(): Command {
  const { context } = openHere({ cwd: tmpdir() });
  const program = createProgram({ ...context, hasDashes: false, exitWith() {} });
  for (const command of commandsOf(program)) {
    // One with subcommands may do something by itself.
    if (command.commands.length === 0 || command.registeredArguments.length > 0) command.action(() => {});
  }
  return program;
}

function commandsOf(command: Command): Command[] {
  return [command, ...command.createHelp().visibleCommands(command).flatMap(commandsOf)];
}

const pathOf = (command: Command): string[] =>
  command.parent === null ? [] : [...pathOf(command.parent), command.name()];

const paths = commandsOf(idleProgram())
  .map(pathOf)
  .filter((path) => path.length > 0);

test(verifies('cli:help', '-h and -V do what --help and --version do'), async () => {
  for (const args of [[], ['call'], ['token', 'issue']]) {
    const long = await qm(...args, '--help');
    expect(long).toMatchObject({ code: 0, stderr: '' });
    expect(await qm(...args, '-h')).toEqual(long);
    expect(await qm('help', ...args)).toEqual(long);
  }
  const version = await qm('--version');
  expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(await qm('-V')).toEqual(version);
});

test(verifies('cli:help', 'qm alone and qm help group all commands by purpose, in 80 columns'), async () => {
  const { stdout } = await runHere(['help'], { cwd: tmpdir(), columns: 80 });
  const bare = await runHere([], { cwd: tmpdir(), columns: 80 });
  expect(bare).toEqual({ code: 2, stdout: '', stderr: stdout });
  const groups = stdout.split('\n\n').filter((part) => /^[A-Z].*:\n/.test(part) && !part.startsWith('Options:'));
  const named = groups.flatMap((part) => [...part.matchAll(/^ {2}([a-z-]+) {2}/gm)].map(([, name]) => name));
  expect(named.sort()).toEqual(paths.flatMap(([name, inner]) => (inner === undefined ? [name] : [])).sort());
  expect(groups.length).toBeGreaterThan(4);
  for (const line of stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
});

test.each(paths.map((path) => [path.join(' ')]))(
  verifies('cli:help', 'the help of qm %s ends with two or more examples that can be parsed'),
  async (path) => {
    const { stdout } = await qm('help', ...path.split(' '));
    const [, examples = ''] = stdout.split('\nExamples:\n');
    const lines = examples.trimEnd().split('\n');
    expect(lines.length).toBeGreaterThanOrEqual(2);
    for (const line of lines) {
      const words = wordsOf(line);
      expect(words.slice(0, path.split(' ').length), line).toEqual(path.split(' '));
      if (!words.includes('--help')) await idleProgram().parseAsync(words, { from: 'user' });
    }
  },
);

test('an example that does not fit its command is found', async () => {
  await expect(idleProgram().parseAsync(wordsOf('  qm ls --al'), { from: 'user' })).rejects.toThrow(/unknown option/);
  expect(wordsOf(`  gh auth | qm call a 'b c' "d" > x  # why`)).toEqual(['call', 'a', 'b c', 'd']);
});

/** The arguments of qm in a line of a shell. */
function wordsOf(line: string): string[] {
  const [, command = ''] = /\bqm ((?:'[^']*'|"[^"]*"|[^'"|>)#])*)/.exec(line) ?? [];
  return [...command.matchAll(/'([^']*)'|"([^"]*)"|[^\s'"]+/g)].map(([all, single, double]) => single ?? double ?? all);
}

test.each([
  ['lss', 'There is no command "qm lss". Did you mean `qm ls`?'],
  ['list', 'Did you mean `qm ls`?'],
  ['rm', 'There is no command "qm rm".'],
  ['tokne', 'Did you mean `qm token`?'],
  ['token isue', 'There is no command "qm token isue". Did you mean `qm token issue`?'],
  ['help tool', 'Did you mean `qm tools`?'],
  ['help token isue', 'Did you mean `qm token issue`?'],
  ['zebra', 'Run `qm --help` to see the commands.'],
  ['login github', 'There is no command "qm login". A server that requires a login needs a token'],
  ['secret get TOKEN', 'No command prints a stored value. `qm secret ls` lists the names'],
  ['tools', 'Name an agent of the configuration; if it has none, any name works.'],
  ['ls --jsno', 'Did you mean --json?'],
  ['--workspce . ls', 'Did you mean --workspace?'],
  ['tools --agnt x', "Unknown option '--agnt'. Did you mean --agent?"],
  ['token issue --agnt x', "Unknown option '--agnt'. Did you mean --agent?"],
])(verifies('cli:did-you-mean', 'qm %s gets a suggestion'), async (line, said) => {
  const { code, stdout, stderr } = await qm(...line.split(' '));
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(said);
});

test.each(paths.map((path) => [path.join(' ')]))(
  verifies('cli:did-you-mean', 'qm %s names a mistyped option before it asks for anything else'),
  async (path) => {
    const { code, stderr } = await qm(...path.split(' '), '--log-levle', 'info');
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: "qm: Unknown option '--log-levle'. Did you mean --log-level?\n",
    });
  },
);
