import { isJsonObject } from '../../../base/index.ts';

/** One argument of a tool, as its schema describes it. */
export interface ToolArgument {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
}

export function argumentsOf(schema: unknown): ToolArgument[] {
  if (!isJsonObject(schema) || !isJsonObject(schema.properties)) return [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  const all = Object.entries(schema.properties).map(([name, property]) => ({
    name,
    type: typeText(property),
    required: required.includes(name),
    description: isJsonObject(property) && typeof property.description === 'string' ? property.description : '',
  }));
  return [...all.filter((argument) => argument.required), ...all.filter((argument) => !argument.required)];
}

/** `add(a, b, note?)`: required arguments come first. */
export function signatureOf(name: string, args: readonly Pick<ToolArgument, 'name' | 'required'>[]): string {
  return `${name}(${args.map((argument) => `${argument.name}${argument.required ? '' : '?'}`).join(', ')})`;
}

/** A JSON Schema in a programmer's notation: `string`, `number[]`, `"a" | "b"`, `integer = 5`. */
export function typeText(schema: unknown): string {
  const kind = kindText(schema, 0);
  if (!isJsonObject(schema) || schema.default === undefined) return kind;
  return `${kind} = ${short(schema.default)}`;
}

const deepest = 4;
const mostValues = 8;

function kindText(schema: unknown, depth: number): string {
  if (!isJsonObject(schema) || depth > deepest) return 'any';
  if (Array.isArray(schema.enum)) return union(schema.enum.map(short));
  if (schema.const !== undefined) return short(schema.const);
  const choices = [schema.anyOf, schema.oneOf].find(Array.isArray);
  if (choices !== undefined) return union(choices.map((choice) => kindText(choice, depth + 1)));
  if (typeof schema.$ref === 'string') return schema.$ref.split('/').at(-1) || 'any';
  const types = (Array.isArray(schema.type) ? schema.type : [schema.type]).filter((type) => typeof type === 'string');
  if (types.length === 0) return 'any';
  return union(
    types.map((type) => (type === 'array' ? arrayText(schema.items, depth) : withFormat(type, schema.format))),
  );
}

function arrayText(items: unknown, depth: number): string {
  const inner = kindText(items, depth + 1);
  return inner.includes(' ') ? `(${inner})[]` : `${inner}[]`;
}

function withFormat(type: string, format: unknown): string {
  return type === 'string' && typeof format === 'string' ? `string (${format})` : type;
}

function union(kinds: readonly string[]): string {
  const all = [...new Set(kinds)];
  const more = all.length > mostValues ? ' | …' : '';
  return `${all.slice(0, mostValues).join(' | ')}${more}` || 'any';
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? 'any';
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
