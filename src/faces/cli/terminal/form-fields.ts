import { isJsonObject } from '../../../base/index.ts';
import { printableLine } from './printable.ts';

/** One field of a server's form, as its schema describes it. Its texts are safe to print. */
export interface FormField {
  /** The member of the response. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly required: boolean;
  /** The accepted input, in words. */
  readonly wanted: string;
  readonly choices: readonly Choice[];
  /** Used for an empty line. */
  readonly byDefault: unknown;
  /** Converts the input to the value that is sent, or explains what is wrong with it. */
  read(text: string): FieldValue;
}

export interface Choice {
  readonly value: string;
  readonly title: string;
}

export type FieldValue =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly complaint: string };

type Schema = Readonly<Record<string, unknown>>;

/** MCP allows only flat forms: text, numbers, booleans, one or several of a list. */
export function formFieldsOf(requestedSchema: unknown): readonly FormField[] {
  const { properties, required } = isJsonObject(requestedSchema) ? requestedSchema : {};
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.entries(isJsonObject(properties) ? properties : {}).map(([name, given]) => {
    const schema = isJsonObject(given) ? given : {};
    return {
      name,
      title: printableLine(typeof schema.title === 'string' ? schema.title : name),
      description: printableLine(typeof schema.description === 'string' ? schema.description : ''),
      required: needed.has(name),
      byDefault: schema.default,
      ...readerOf(schema),
    };
  });
}

function readerOf(schema: Schema): Pick<FormField, 'wanted' | 'choices' | 'read'> {
  const choices = choicesOf(schema);
  if (choices.length > 0) return { wanted: 'one of these', choices, read: (text) => readChoice(choices, text) };
  switch (schema.type) {
    case 'array': {
      const several = choicesOf(isJsonObject(schema.items) ? schema.items : {});
      return {
        wanted: 'some of these, with commas',
        choices: several,
        read: (text) => readSome(schema, several, text),
      };
    }
    case 'boolean':
      return { wanted: 'yes or no', choices: [], read: readBoolean };
    case 'number':
    case 'integer':
      return {
        wanted: `${schema.type}${rangeOf(schema, 'minimum', 'maximum')}`,
        choices: [],
        read: readNumber(schema),
      };
    default: {
      const what = typeof schema.format === 'string' ? printableLine(schema.format) : 'text';
      const range = rangeOf(schema, 'minLength', 'maxLength');
      return { wanted: range === '' ? what : `${what} of${range} characters`, choices: [], read: readText(schema) };
    }
  }
}

/** `enum`, with or without names, or a list of constants with titles. */
function choicesOf(schema: Schema): readonly Choice[] {
  const titled = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(titled)) {
    return titled.filter(isJsonObject).map((each) => toChoice(each.const, each.title));
  }
  const names = Array.isArray(schema.enumNames) ? schema.enumNames : [];
  return Array.isArray(schema.enum) ? schema.enum.map((value, index) => toChoice(value, names[index])) : [];
}

function toChoice(value: unknown, title: unknown): Choice {
  return { value: String(value), title: printableLine(String(title ?? value)) };
}

/** Finds a choice by number, value or title. */
function findChoice(choices: readonly Choice[], text: string): Choice | undefined {
  const exact = choices.find(({ value, title }) => value === text || title === text);
  return exact ?? (/^\d+$/.test(text) ? choices[Number(text) - 1] : undefined);
}

function readChoice(choices: readonly Choice[], text: string): FieldValue {
  const choice = findChoice(choices, text);
  return choice === undefined ? wrong(`Type a number from 1 to ${choices.length}.`) : right(choice.value);
}

function readSome({ minItems, maxItems }: Schema, choices: readonly Choice[], text: string): FieldValue {
  const words = text.split(',').flatMap((word) => (word.trim() === '' ? [] : [word.trim()]));
  const named = words.map((word) => (choices.length === 0 ? word : findChoice(choices, word)?.value));
  const found = [...new Set(named)];
  if (found.includes(undefined)) return wrong(`Type numbers from 1 to ${choices.length}, with commas between them.`);
  if (typeof minItems === 'number' && found.length < minItems) return wrong(`At least ${minItems} of them.`);
  if (typeof maxItems === 'number' && found.length > maxItems) return wrong(`At most ${maxItems} of them.`);
  return right(found);
}

function readBoolean(text: string): FieldValue {
  if (/^(y|yes|true)$/i.test(text)) return right(true);
  return /^(n|no|false)$/i.test(text) ? right(false) : wrong('Type yes or no.');
}

function readNumber({ type, minimum, maximum }: Schema): (text: string) => FieldValue {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isFinite(value)) return wrong('Type a number.');
    if (type === 'integer' && !Number.isInteger(value)) return wrong('Type a whole number.');
    if (typeof minimum === 'number' && value < minimum) return wrong(`It must be at least ${minimum}.`);
    if (typeof maximum === 'number' && value > maximum) return wrong(`It may be at most ${maximum}.`);
    return right(value);
  };
}

function readText({ minLength, maxLength }: Schema): (text: string) => FieldValue {
  return (text) => {
    if (typeof minLength === 'number' && text.length < minLength) return wrong(`At least ${minLength} characters.`);
    if (typeof maxLength === 'number' && text.length > maxLength) return wrong(`At most ${maxLength} characters.`);
    return right(text);
  };
}

function rangeOf(schema: Schema, least: string, most: string): string {
  const [from, to] = [schema[least], schema[most]];
  if (typeof from === 'number' && typeof to === 'number') return ` ${from} to ${to}`;
  if (typeof from === 'number') return ` ${from} or more`;
  return typeof to === 'number' ? ` up to ${to}` : '';
}

function right(value: unknown): FieldValue {
  return { ok: true, value };
}

function wrong(complaint: string): FieldValue {
  return { ok: false, complaint };
}
