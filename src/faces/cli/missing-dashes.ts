import { type Command, CommanderError } from 'commander';
import { HubError } from '../../base/index.ts';
import { shellWord } from './next-command.ts';

/** Which operand of these commands is the program whose own options confuse the parser. */
const programAt: Readonly<Record<string, number>> = { add: 1, inspect: 0 };

/**
 * `qm add files npx -y …` without `--`: the options of the program look like options of qm. Returns the error with the
 * corrected command, or undefined if the error has another reason.
 */
export async function missingDashes(
  error: unknown,
  program: Command,
  args: readonly string[],
): Promise<HubError | undefined> {
  if (!(error instanceof CommanderError) || error.code !== 'commander.unknownOption') return undefined;
  const found = findProgram(program, args);
  if (found === undefined) return undefined;
  const { createRedactor } = await import('../../vault/index.ts');
  const words = [...args.slice(0, found.at), '--', ...args.slice(found.at)].map(shellWord).join(' ');
  const name = args[found.at] ?? '';
  return new HubError('USAGE', `${args[found.unknown]} is not an option of qm, but probably one of ${name}.`, {
    hint: `Write -- before the program: \`qm ${createRedactor([]).message(words)}\``,
  });
}

/** The place of the program, and of the first option that qm does not have, in the words of a command line. */
function findProgram(
  program: Command,
  args: readonly string[],
): { readonly at: number; readonly unknown: number } | undefined {
  let command = program;
  const operands: number[] = [];
  for (let at = 0; at < args.length && args[at] !== '--'; at += 1) {
    const word = args[at] ?? '';
    if (word.startsWith('-') && word !== '-') {
      const option = command.options.find(({ long, short }) => [long, short].includes(word.split('=', 1)[0]));
      const first = operands[programAt[command.name()] ?? Number.POSITIVE_INFINITY];
      if (option === undefined) return first === undefined ? undefined : { at: first, unknown: at };
      if (option.required && !word.includes('=')) at += 1;
      continue;
    }
    const inner = command.commands.find((each) => each.name() === word);
    if (inner === undefined) operands.push(at);
    else command = inner;
  }
  return undefined;
}
