import { parseArgs } from 'node:util';
import { HubError } from '../../base/index.ts';
import type { BuiltinKind } from './builtin-kind.ts';

/** The given options with their values as written. */
export type GivenOptions = ReadonlyMap<string, readonly string[]>;

/** Parses a built-in server's arguments. Throws USAGE for anything but its options. */
export function readOptions(
  { name, options }: Pick<BuiltinKind, 'name' | 'options'>,
  args: readonly string[],
): GivenOptions {
  const shape = Object.fromEntries(options.map((each) => [each.name, { type: 'string', multiple: true } as const]));
  let values: Readonly<Record<string, unknown>>;
  try {
    ({ values } = parseArgs({ args: [...args], options: shape, strict: true, allowPositionals: false }));
  } catch (error) {
    // Node.js's message names the option and the problem.
    const [reason = ''] = error instanceof Error ? error.message.split('. ') : [];
    throw wrongOptions(name, reason);
  }
  const given = new Map<string, readonly string[]>();
  for (const option of options) {
    const written = values[option.name];
    if (!Array.isArray(written)) continue;
    if (written.length > 1 && option.multiple !== true) throw wrongOptions(name, `--${option.name} is given twice`);
    given.set(option.name, written.map(String));
  }
  return given;
}

/** An integer within bounds, or the default. */
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

/** `reason` completes a sentence. */
export function wrongOptions(name: string, reason: string): HubError {
  return new HubError('USAGE', `The arguments of the built-in server ${name} are invalid: ${reason}.`, {
    hint: `Run qm builtin ${name} --help.`,
  });
}
