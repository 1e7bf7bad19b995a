import type { Command } from 'commander';
import { didYouMean, HubError } from '../../base/index.ts';

/** A word in the place of a command, with the command that was probably meant. */
export function unknownCommand(group: Command, word: string): HubError {
  const names = group
    .createHelp()
    .visibleCommands(group)
    .map((each) => each.name());
  const synonym = Object.hasOwn(synonyms, word) ? synonyms[word] : undefined;
  const meant = names.find((name) => name === synonym) ?? didYouMean(word, names);
  const path = pathOf(group);
  return new HubError('USAGE', `There is no command "${path} ${word.slice(0, 80)}".`, {
    hint: meant === undefined ? `Run \`${path} --help\` to see the commands.` : `Did you mean \`${path} ${meant}\`?`,
  });
}

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
