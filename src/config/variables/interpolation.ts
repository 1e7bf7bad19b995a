// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
/**
 * Expands variables in configuration text in two steps: a grammar parses the text into a template, and `expand` fills
 * it. A format with its own syntax provides its own grammar. Filling is the same for all.
 */
export type Grammar = (text: string) => ParsedTemplate;

export type ParsedTemplate = { readonly kind: 'template'; readonly parts: Template } | TemplateFault;

/** Text that the grammar rejects. The message may name a variable, but never quotes the text around it. */
export interface TemplateFault {
  readonly kind: 'fault';
  readonly message: string;
  readonly fix: string;
}

export type Template = readonly VariablePart[];

export type VariablePart =
  | { readonly kind: 'literal'; readonly text: string }
  /** Text from outside the configuration file that must be redacted. */
  | { readonly kind: 'secret'; readonly text: string }
  | RequiredVariable
  | { readonly kind: 'default'; readonly name: string; readonly from?: 'store'; readonly otherwise: Template }
  | { readonly kind: 'alternative'; readonly name: string; readonly when: Template };

export interface RequiredVariable {
  readonly kind: 'required';
  readonly name: string;
  /** Set if only the secret store may answer. */
  readonly from?: 'store';
}

/** With `from`, only the secret store answers. */
export type Lookup = (name: string, from?: 'store') => string | undefined;

export interface Expansion {
  readonly value: string;
  /** Variables without a value or default. */
  readonly missing: readonly RequiredVariable[];
  /** Variables whose value was inserted. */
  readonly used: readonly string[];
  /** Secret texts that were inserted. */
  readonly secrets: readonly string[];
}

/** `${V}`, `${V:-default}`, `${V:default}`, `${V:+text}`, nested, and `$${` for a literal `${`. */
export const shellGrammar: Grammar = (text) => readTemplate({ text, at: 0, bareNames: false });

/** The same, plus `$V` without braces, which some clients expand too. */
export const bareShellGrammar: Grammar = (text) => readTemplate({ text, at: 0, bareNames: true });

/** For a format without variables. */
export const literalGrammar: Grammar = (text) => ({ kind: 'template', parts: literal(text) });

/** A template that consists of plain text. */
export function literal(text: string): Template {
  return text === '' ? [] : [{ kind: 'literal', text }];
}

/** The names of all variables in a template, those in defaults too. */
export function variablesIn(template: Template): readonly string[] {
  return template.flatMap((part) => {
    if (part.kind === 'literal' || part.kind === 'secret') return [];
    if (part.kind === 'required') return [part.name];
    return [part.name, ...variablesIn(part.kind === 'default' ? part.otherwise : part.when)];
  });
}

/** Values are inserted unchanged: a value that looks like a variable is not expanded again. */
export function expand(template: Template, lookup: Lookup): Expansion {
  const missing = new Map<string, RequiredVariable>();
  const used = new Set<string>();
  const secrets = new Set<string>();
  const value = fill(template);
  return { value, missing: [...missing.values()], used: [...used], secrets: [...secrets] };

  function fill(parts: Template): string {
    let filled = '';
    for (const part of parts) filled += fillPart(part);
    return filled;
  }

  function fillPart(part: VariablePart): string {
    if (part.kind === 'literal') return part.text;
    if (part.kind === 'secret') {
      if (part.text !== '') secrets.add(part.text);
      return part.text;
    }
    if (part.kind !== 'alternative' && part.from === 'store') return fillStored(part);
    const found = lookup(part.name);
    // As in a shell, the forms with a colon treat an empty value as absent.
    switch (part.kind) {
      case 'required':
        if (found === undefined) missing.set(part.name, part);
        return insert(part.name, found ?? '');
      case 'default':
        return found === undefined || found === '' ? fill(part.otherwise) : insert(part.name, found);
      case 'alternative':
        return found === undefined || found === '' ? '' : fill(part.when);
    }
  }

  function fillStored(part: Extract<VariablePart, { kind: 'required' | 'default' }>): string {
    const found = lookup(part.name, 'store');
    if (found !== undefined && found !== '') secrets.add(found);
    else if (part.kind === 'required') missing.set(`${part.name} in the store`, part);
    return found ?? (part.kind === 'default' ? fill(part.otherwise) : '');
  }

  function insert(name: string, found: string): string {
    if (found !== '') used.add(name);
    return found;
  }
}

function readTemplate(cursor: Cursor): ParsedTemplate {
  try {
    return { kind: 'template', parts: readText(cursor, 0) };
  } catch (error) {
    if (error instanceof GrammarError) return { kind: 'fault', message: error.message, fix: error.fix };
    throw error;
  }
}

interface Cursor {
  readonly text: string;
  readonly bareNames: boolean;
  at: number;
}

/** Aborts the recursive descent. Never leaves this file. */
class GrammarError extends Error {
  readonly fix: string;

  constructor(message: string, fix: string) {
    super(message);
    this.fix = fix;
  }
}

const maxNesting = 32;
const namePattern = /[A-Za-z_][A-Za-z0-9_]*/y;
/** `${env:X}` and `${input:x}` are other clients' forms. Read as defaults, they would silently mean the wrong thing. */
const foreignPattern = /(env|input):(?![-+])([\w.-]*)/y;

/** Reads to the end of the text or, inside a variable, to its closing brace. */
function readText(cursor: Cursor, depth: number): Template {
  if (depth > maxNesting) {
    throw new GrammarError('variables are nested too deeply', `Nest at most ${maxNesting} levels.`);
  }
  const { text } = cursor;
  const parts: VariablePart[] = [];
  let plain = '';
  let openBraces = 0;
  while (cursor.at < text.length) {
    if (text.startsWith('$${', cursor.at)) {
      plain += '${';
      openBraces += 1;
      cursor.at += 3;
    } else if (text.startsWith('${', cursor.at)) {
      parts.push(...literal(plain));
      plain = '';
      parts.push(readVariable(cursor, depth));
    } else if (cursor.bareNames && bareName(cursor) !== undefined) {
      const name = bareName(cursor) ?? '';
      parts.push(...literal(plain), { kind: 'required', name });
      plain = '';
      cursor.at += name.length + 1;
    } else {
      const character = text[cursor.at] ?? '';
      // Balanced plain braces belong to the text, so that a default may be JSON.
      if (depth > 0 && character === '}' && openBraces === 0) break;
      if (character === '{') openBraces += 1;
      if (character === '}') openBraces -= 1;
      plain += character;
      cursor.at += 1;
    }
  }
  parts.push(...literal(plain));
  return parts;
}

function readVariable(cursor: Cursor, depth: number): VariablePart {
  const start = cursor.at;
  cursor.at += 2;
  const foreign = match(foreignPattern, cursor);
  if (foreign !== undefined) throw foreignForm(foreign);
  const name = match(namePattern, cursor)?.[0];
  if (name === undefined) {
    throw new GrammarError(
      `no variable name follows the "\${" at character ${start + 1}`,
      'Names are letters, digits and "_". For a literal "${" write "$${".',
    );
  }
  cursor.at += name.length;
  const part = readOperator(cursor, name, depth);
  if (cursor.text[cursor.at] !== '}') {
    throw new GrammarError(
      `the "\${" at character ${start + 1} is not closed, or "${name}" is followed by something unknown`,
      `Write \${${name}}, \${${name}:-default} or \${${name}:+text}. For a literal "\${" write "$\${".`,
    );
  }
  cursor.at += 1;
  return part;
}

function readOperator(cursor: Cursor, name: string, depth: number): VariablePart {
  if (cursor.text[cursor.at] !== ':') return { kind: 'required', name };
  const operator = cursor.text[cursor.at + 1];
  if (operator === '?' || operator === '=') {
    throw new GrammarError(
      `"\${${name}:${operator}" is not supported`,
      operator === '?' ? `Write \${${name}}: it is required anyway.` : `Write \${${name}:-default}.`,
    );
  }
  cursor.at += operator === '-' || operator === '+' ? 2 : 1;
  const operand = readText(cursor, depth + 1);
  return operator === '+'
    ? { kind: 'alternative', name, when: operand }
    : { kind: 'default', name, otherwise: operand };
}

/** The name after a `$` without braces. */
function bareName(cursor: Cursor): string | undefined {
  return cursor.text[cursor.at] === '$' ? match(namePattern, { ...cursor, at: cursor.at + 1 })?.[0] : undefined;
}

function match(pattern: RegExp, cursor: Cursor): RegExpExecArray | undefined {
  pattern.lastIndex = cursor.at;
  return pattern.exec(cursor.text) ?? undefined;
}

function foreignForm([, prefix, id]: RegExpExecArray): GrammarError {
  const form = `\${${prefix}:${id}}`;
  return prefix === 'env'
    ? new GrammarError(`"${form}" is another client's form`, `Write \${${id}}.`)
    : new GrammarError(
        `"${form}" prompts the user in another client, which the hub cannot do`,
        `Write \${${inputVariable(id ?? '')}} and set that variable.`,
      );
}

/** The variable for a prompt of another client: the id in capitals, with `_` for other characters. */
function inputVariable(id: string): string {
  return (
    id
      .toUpperCase()
      .replace(/[^A-Z0-9]+/g, '_')
      .replace(/^(?=\d)/, '_') || 'NAME'
  );
}
