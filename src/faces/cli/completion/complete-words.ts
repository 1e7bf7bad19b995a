import type { Argument, Command, Option } from 'commander';

/** The possible completions at the cursor. */
export type Completion =
  | { readonly kind: 'words'; readonly words: readonly CompletedWord[] }
  /** Names from the workspace or the preset gallery, each with the prefix. */
  | { readonly kind: 'names'; readonly of: CompletedKind; readonly prefix: string }
  /** Left to the shell. */
  | { readonly kind: 'files' }
  | { readonly kind: 'folders' };

export interface CompletedWord {
  readonly value: string;
  /** For shells that show a description. */
  readonly about: string;
}

export type CompletedKind = 'server' | 'agent' | 'tool' | 'run' | 'preset' | 'client';

/** `words` are those after the program's name up to the cursor. The last one is incomplete and may be empty. */
export function completeWords(program: Command, words: readonly string[]): Completion {
  const place = readPlace(program, words.slice(0, -1));
  const current = words.at(-1) ?? '';
  const { command, pending, ended, operands } = place;
  if (pending !== undefined) return valuesOf(pending, '', current);
  const [name = ''] = current.split('=', 1);
  if (!ended && name.startsWith('--') && name !== current) {
    const option = findOption(command, name);
    return option === undefined ? none : valuesOf(option, `${name}=`, current);
  }
  if (!ended && current.startsWith('-')) return matching(optionWords(command), current);
  const inner = command.createHelp().visibleCommands(command);
  if (inner.length > 0 && operands === 0) return matching(inner.map(commandWord), current);
  const argument = command.registeredArguments[operands] ?? lastVariadic(command);
  return argument === undefined ? none : valuesOf(argument, '', current);
}

/** The folder that `--workspace` names in the words; the last one wins. */
export function workspaceOf(words: readonly string[]): string | undefined {
  let found: string | undefined;
  for (const [index, word] of words.slice(0, -1).entries()) {
    if (word === '--') break;
    if (word === '--workspace') found = words[index + 1];
    if (word.startsWith('--workspace=')) found = word.slice('--workspace='.length);
  }
  return found === '' ? undefined : found;
}

const none: Completion = { kind: 'words', words: [] };

interface Place {
  readonly command: Command;
  /** The option whose value comes next. */
  readonly pending: Option | undefined;
  /** After `--`, no word is an option. */
  readonly ended: boolean;
  readonly operands: number;
}

function readPlace(program: Command, words: readonly string[]): Place {
  let [command, ended, operands] = [program, false, 0];
  let pending: Option | undefined;
  for (const word of words) {
    if (pending !== undefined) pending = undefined;
    else if (!ended && word === '--') ended = true;
    else if (!ended && word.startsWith('-') && word !== '-') {
      const option = word.includes('=') ? undefined : findOption(command, word);
      if (option?.required === true) pending = option;
    } else {
      const inner = operands === 0 ? command.commands.find((each) => each.name() === word) : undefined;
      if (inner === undefined) operands++;
      else command = inner;
    }
  }
  return { command, pending, ended, operands };
}

function findOption(command: Command, word: string): Option | undefined {
  return command.options.find(({ long, short }) => word === long || word === short);
}

function lastVariadic({ registeredArguments }: Command): Argument | undefined {
  const last = registeredArguments.at(-1);
  return last?.variadic === true ? last : undefined;
}

function optionWords(command: Command): CompletedWord[] {
  const options = command.createHelp().visibleOptions(command);
  return options.map(({ long, short, description }) => ({ value: long ?? short ?? '', about: description }));
}

function commandWord(command: Command): CompletedWord {
  return { value: command.name(), about: command.description() };
}

function matching(words: readonly CompletedWord[], current: string): Completion {
  return { kind: 'words', words: words.filter(({ value }) => value !== '' && value.startsWith(current)) };
}

function valuesOf(asked: Option | Argument, prefix: string, current: string): Completion {
  if (asked.argChoices !== undefined) {
    const words = asked.argChoices.map((choice) => ({ value: prefix + choice, about: '' }));
    return matching(words, current);
  }
  const kind = kindOf(asked);
  if (kind === undefined) return none;
  return kind === 'files' || kind === 'folders' ? { kind } : { kind: 'names', of: kind, prefix };
}

/** Derives the kind from the name: `--agent <name>`, `<server.tool>`, `--output <file>`. */
function kindOf(asked: Option | Argument): CompletedKind | 'files' | 'folders' | undefined {
  const name = 'long' in asked ? (asked.long ?? '').replace(/^--/, '') : asked.name();
  const value = 'long' in asked ? (/[<[]([^<>[\]]+)[>\]]/.exec(asked.flags)?.[1] ?? '') : '';
  return kinds[name.replace(/\.\.\.$/, '')] ?? kinds[value];
}

const kinds: Readonly<Record<string, CompletedKind | 'files' | 'folders'>> = {
  agent: 'agent',
  server: 'server',
  servers: 'server',
  'server.tool': 'tool',
  tool: 'tool',
  run: 'run',
  preset: 'preset',
  client: 'client',
  dir: 'folders',
  folder: 'folders',
  workspace: 'folders',
  file: 'files',
  files: 'files',
  manifest: 'files',
};
