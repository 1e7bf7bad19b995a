import { parseArgs } from 'node:util';
import { HubError } from '../../base/index.ts';
import type { BuiltinKind } from './builtin.ts';

/** What was given, by option; each value as it was written. */
export type GivenOptions = ReadonlyMap<string, readonly string[]>;

/** Reads a built-in server's arguments. Throws USAGE for anything that its options do not name. */
export function readOptions(
  { name, options }: Pick<BuiltinKind, 'name' | 'options'>,
  args: readonly string[],
): GivenOptions {
  const shape = Object.fromEntries(options.map((each) => [each.name, { type: 'string', multiple: true } as const]));
  let values: Readonly<Record<string, unknown>>;
  try {
    ({ values } = parseArgs({ args: [...args], options: shape, strict: true, allowPositionals: false }));
  } catch (error) {
    // Node's own sentence names the option and what is wrong with it.
    const [reason = ''] = error instanceof Error ? error.message.split('. ') : [];
    throw wrongOptions(name, reason);
  }
  const given = new Map<string, readonly string[]>();
  for (const option of options) {
    const written = values[option.name];
    if (!Array.isArray(written)) continue;
    if (written.length > 1 && option.multiple !== true) throw wrongOptions(name, `--${option.name} is there twice`);
    given.set(option.name, written.map(String));
  }
  return given;
}

/** A whole number within bounds, or what stands in for it where nobody said. */
export function numberOption(
  { name }: Pick<BuiltinKind, 'name'>,
  given: GivenOptions,
  option: string,
  { least, most, otherwise }: { readonly least: number; readonly most: number; readonly otherwise: number },
): number {
  const text = given.get(option)?.[0];
  if (text === undefined) return otherwise;
  const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw wrongOptions(name, `--${option} must be a whole number from ${least} to ${most}`);
}

/** What is wrong with the arguments, as the end of a sentence. */
export function wrongOptions(name: string, reason: string): HubError {
  return new HubError('USAGE', `The arguments of the built-in server ${name} are wrong: ${reason}.`, {
    hint: `Run qm builtin ${name} --help.`,
  });
}
