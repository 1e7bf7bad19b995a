import { HubError, isJsonObject } from '../../../base/index.ts';
import { readBody } from '../../../mcp/index.ts';

/** The arguments of a call. The text is sent upstream; the value is for decisions. */
export interface ToolArguments {
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** One `k=v` or `k:=JSON`. */
export interface Pair {
  readonly key: string;
  readonly value: string;
  readonly raw: boolean;
}

export function readPairs(words: readonly string[]): Pair[] {
  const pairs = words.map(readPair);
  const keys = new Set<string>();
  for (const { key } of pairs) {
    if (keys.has(key)) throw new HubError('USAGE', `The argument "${key}" is given twice.`);
    keys.add(key);
  }
  return pairs;
}

function readPair(word: string): Pair {
  const at = word.indexOf('=');
  const raw = at > 0 && word[at - 1] === ':';
  const key = word.slice(0, raw ? at - 1 : at);
  if (at > 0 && key !== '') return { key, value: word.slice(at + 1), raw };
  throw new HubError('USAGE', `"${word.slice(0, 80)}" is not an argument.`, {
    hint: 'Write name=value, name:=JSON, or everything as --args JSON.',
  });
}

/** Keeps the text as it is, so that numbers beyond 2^53 do not change. */
export function argumentsFromJson(text: string): ToolArguments {
  return checkArguments(text.trim(), '--args');
}

/** Values are text unless the tool's schema requires another type. */
export function argumentsFromPairs(pairs: readonly Pair[], schema: Readonly<Record<string, unknown>>): ToolArguments {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const members = pairs.map(({ key, value, raw }) => {
    const types = Object.hasOwn(properties, key) ? typesOf(properties[key]) : new Set<string>();
    const text = raw ? rawText(key, value) : textOf(key, value, types);
    return `${JSON.stringify(key)}:${text}`;
  });
  return checkArguments(`{${members.join(',')}}`, 'The arguments');
}

function rawText(key: string, value: string): string {
  if (parse(value) !== undefined) return value.trim();
  throw new HubError('USAGE', `The value of "${key}" is not valid JSON.`, { hint: `For plain text write ${key}=…` });
}

function textOf(key: string, value: string, types: ReadonlySet<string>): string {
  if (types.size === 0 || types.has('string')) return JSON.stringify(value);
  const parsed = parse(value);
  if (parsed !== undefined && kindsOf(parsed.value).some((kind) => types.has(kind))) return value.trim();
  throw new HubError(
    'USAGE',
    `"${key}" must be of type ${[...types].join(' or ')}, and "${value.slice(0, 80)}" is not.`,
    {
      hint: `To send it regardless write ${key}:=JSON.`,
    },
  );
}

function typesOf(schema: unknown): ReadonlySet<string> {
  if (!isJsonObject(schema)) return new Set();
  const { type, anyOf, oneOf } = schema;
  const own = (Array.isArray(type) ? type : [type]).filter((each) => typeof each === 'string');
  const inner = [anyOf, oneOf].flatMap((list) =>
    Array.isArray(list) ? list.flatMap((each) => [...typesOf(each)]) : [],
  );
  return new Set([...own, ...inner]);
}

function kindsOf(value: unknown): string[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  if (typeof value === 'number') return Number.isInteger(value) ? ['number', 'integer'] : ['number'];
  return [typeof value];
}

/** Uses the parser for agents' messages, which refuses repeated keys and deep nesting. */
function checkArguments(text: string, what: string): ToolArguments {
  const parsed = parse(text);
  if (parsed === undefined || !isJsonObject(parsed.value)) {
    throw new HubError('USAGE', `${what} must be a JSON object.`, {
      hint: 'For example --args \'{"path":"notes.md"}\'.',
    });
  }
  try {
    readBody(`{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"arguments":${text}}}`);
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    throw new HubError('ARGUMENTS_INVALID', error.message, {
      cause: error,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
    });
  }
  return { text, value: parsed.value };
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
