// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { HubError } from '../../../base/index.ts';
import { choosePresets, type Plain, type Preset, presetServer, presets } from '../../../workspace-files/index.ts';
import { checkAgent } from '../agents/agent-option.ts';
import { nameHint } from '../name-hint.ts';

export interface AddOptions {
  readonly url?: string;
  readonly type?: string;
  readonly header?: readonly string[];
  readonly env?: readonly string[];
  readonly cwd?: string;
  readonly description?: string;
  readonly tools?: string;
  readonly shared?: boolean;
  readonly agent?: string;
  readonly preset?: string;
  /** False: do not start it to list its tools. */
  readonly start?: boolean;
}

/** A server as written to quartermaster.yaml. */
export interface AddOrder {
  readonly name: string;
  readonly body: Readonly<Record<string, Plain>>;
  readonly agent: string | undefined;
  readonly preset: Preset | undefined;
}

/** Checks and reads the command line, without looking at any file. */
export function readOrder(name: string, given: readonly string[], wanted: AddOptions): AddOrder {
  checkServerName(name);
  const { words, options } = withAddress(given, wanted);
  const ways = [words.length > 0, options.url !== undefined, options.preset !== undefined].filter(Boolean).length;
  if (ways === 0) throw noWay(name);
  if (ways > 1) throw usage('Give one of a program, a --url or a --preset.', waysHint(name));
  refuseStray(words.length > 0 ? 'a program' : options.url === undefined ? 'a preset' : 'an address', options, words);
  const preset = options.preset === undefined ? undefined : findPreset(options.preset);
  const reached =
    preset !== undefined ? presetServer(preset) : words.length > 0 ? program(words, options) : address(options);
  const { description, tools, shared, agent } = options;
  const body = {
    ...reached,
    ...(description === undefined ? {} : { description }),
    ...(tools === undefined ? {} : { tools: toolNames(tools) }),
    ...(shared === true ? { shared } : {}),
  };
  return { name, body, agent: agent === undefined ? undefined : checkAgent(agent), preset };
}

function noWay(name: string): HubError {
  const [preset] = presetsNamed(name);
  return preset === undefined
    ? usage(`How does the hub reach ${name}?`, waysHint(name))
    : usage(`There is a preset "${preset.id}".`, `To use it, run \`qm add ${name} --preset ${preset.id}\`.`);
}

function waysHint(name: string): string {
  return `Write \`qm add ${name} -- PROGRAM ARGS…\`, \`qm add ${name} https://…\` or \`qm add ${name} --preset ID\`.`;
}

function presetsNamed(id: string): readonly Preset[] {
  const chosen = choosePresets([id]);
  return chosen.kind === 'chosen' ? chosen.presets : [];
}

/** `qm add docs https://…` means the same as `--url`. */
function withAddress(
  words: readonly string[],
  options: AddOptions,
): { readonly words: readonly string[]; readonly options: AddOptions } {
  const [address = '', ...more] = words;
  if (!/^https?:\/\//i.test(address) || options.url !== undefined) return { words, options };
  if (more.length > 0) throw usage('An address takes no arguments.', 'Give the address alone, or a program after --.');
  return { words: [], options: { ...options, url: address } };
}

function checkServerName(name: string): void {
  if (/^(?!__proto__$)[A-Za-z0-9._-]{1,64}$/.test(name)) return;
  throw usage(
    `"${name.slice(0, 80)}" cannot be the name of a server.`,
    'Use 1 to 64 letters, digits, dots, dashes and underscores.',
  );
}

/** Refuses options that would have no effect. */
function refuseStray(way: string, options: AddOptions, words: readonly string[]): void {
  const only = words.length > 0 ? ['env', 'cwd'] : options.url === undefined ? [] : ['header', 'type'];
  for (const key of ['env', 'cwd', 'header', 'type'] as const) {
    const stdioType = key === 'type' && words.length > 0 && options.type === 'stdio';
    if (options[key] === undefined || only.includes(key) || stdioType) continue;
    throw usage(`--${key} does not apply to ${way}.`, 'Remove it.');
  }
}

function program(words: readonly string[], { env, cwd }: AddOptions): Record<string, Plain> {
  const [command = '', ...args] = words;
  if (command.startsWith('-')) {
    throw usage(
      `"${command.slice(0, 80)}" is not a program.`,
      'Name the server before it: `qm add NAME -- PROGRAM ARGS…`.',
    );
  }
  if (args.length === 0 && /^[^\s/\\]+\s+\S/.test(command)) {
    throw usage(`"${command.slice(0, 80)}" is one word, and no program has that name.`, 'Leave the quotes out.');
  }
  return {
    command,
    ...(args.length === 0 ? {} : { args }),
    ...(env === undefined ? {} : { env: Object.fromEntries(env.map(variable)) }),
    ...(cwd === undefined ? {} : { cwd }),
  };
}

function address({ url = '', type, header }: AddOptions): Record<string, Plain> {
  if (type === 'stdio') throw usage('--type stdio does not apply to an address.', 'Use http or sse.');
  return {
    ...(type === undefined || type === 'http' ? {} : { type }),
    url,
    ...(header === undefined ? {} : { headers: Object.fromEntries(header.map(headerLine)) }),
  };
}

export function variable(pair: string): [string, string] {
  const at = pair.indexOf('=');
  if (at <= 0) throw usage('--env needs NAME=VALUE.', "For instance --env 'LEVEL=debug'.");
  const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
  if (value === '' && /token|secret|passw|key|credential/i.test(name)) throw swallowed(`--env ${name}`, `${name}=`);
  return [name, value];
}

function headerLine(line: string): [string, string] {
  const { name, value, isEmpty } = splitHeader(line, "'Authorization: Bearer ${TOKEN}'");
  if (isEmpty) throw swallowed(`--header ${name}`, `${name}: ${value} `);
  return [name, value];
}

/** A header as it was typed. It is empty if there is a scheme at most, as after `Bearer $UNSET`. */
export function splitHeader(line: string, example: string) {
  const at = line.indexOf(':');
  // Do not quote the text: it may be a secret whose name was forgotten.
  if (at <= 0) throw usage('--header needs "Name: value".', `For instance --header ${example}.`);
  const value = line.slice(at + 1).trim();
  return { name: line.slice(0, at).trim(), value, isEmpty: /^(?:bearer|basic|token|apikey)?$/i.test(value) };
}

/** In double quotes, the shell replaces an unset variable with nothing. */
function swallowed(option: string, before: string): HubError {
  const example = `${before.replace(/ +/g, ' ')}\${NAME}`;
  return usage(`${option} has no value.`, `In single quotes the shell leaves a variable for the hub: '${example}'.`);
}

function toolNames(list: string): string[] {
  const names = list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0) throw usage('--tools needs names separated by commas.', 'For instance --tools read,list.');
  return names;
}

export function findPreset(id: string): Preset {
  const [found] = presetsNamed(id);
  if (found !== undefined) return found;
  throw unknownPresets([id]);
}

export function unknownPresets(ids: readonly string[]): HubError {
  const known = presets.map(({ id }) => id);
  const hint = nameHint(ids[0] ?? '', known, { some: 'Available', none: '' });
  return usage(
    `There is no preset ${ids.map((id) => `"${id.slice(0, 80)}"`).join(', ')}.`,
    `${hint} \`qm bootstrap --list\` describes them.`,
  );
}

function usage(message: string, hint: string): HubError {
  return new HubError('USAGE', message, { hint });
}
