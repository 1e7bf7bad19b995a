import type { Command } from 'commander';
import { HubError, wordsMeant } from '../../base/index.ts';

/** A word in the place of a command, with the command that was probably meant. */
export function unknownCommand(group: Command, word: string): HubError {
  const names = group
    .createHelp()
    .visibleCommands(group)
    .map((each) => each.name());
  const synonym = Object.hasOwn(synonyms, word) ? synonyms[word] : undefined;
  const meant = names.find((name) => name === synonym) ?? wordsMeant(word, names);
  const path = pathOf(group);
  const command = `${path} ${word.slice(0, 80)}`;
  const near = meant?.replace(' or ', `\` or \`${path} `);
  const hint = near === undefined ? `Run \`${path} --help\` to see the commands.` : `Did you mean \`${path} ${near}\`?`;
  return new HubError('USAGE', `There is no command "${command}".`, {
    hint: answers.get(command) ?? hint,
  });
}

const noLogin =
  'A server that requires a login needs a token, stored with `qm secret set NAME`. `qm doctor` shows which server needs one, and what to write into its entry.';

const noValue =
  'No command prints a stored value. `qm secret ls` lists the names, and `qm secret set NAME` replaces a value.';

/** Commands that other programs have, and that there is a reason not to have here. */
const answers: ReadonlyMap<string, string> = new Map([
  ['qm login', noLogin],
  ['qm auth', noLogin],
  ['qm secret get', noValue],
  ['qm secret show', noValue],
]);

/** What people type who know other programs. */
const synonyms: Readonly<Record<string, string>> = {
  list: 'ls',
  servers: 'ls',
  status: 'ls',
  ps: 'ls',
  rm: 'remove',
  delete: 'remove',
  uninstall: 'remove',
  start: 'serve',
  run: 'serve',
  up: 'serve',
  down: 'stop',
  kill: 'stop',
  restart: 'reload',
  audit: 'calls',
  ledger: 'calls',
  history: 'calls',
  stats: 'summarize',
  check: 'doctor',
  test: 'doctor',
  show: 'inspect',
  describe: 'inspect',
  create: 'new-server',
  new: 'new-server',
  approve: 'trust',
  why: 'explain',
  presets: 'bootstrap',
  tail: 'logs',
  env: 'secret',
  add: 'set',
  unset: 'rm',
  remove: 'rm',
};

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
