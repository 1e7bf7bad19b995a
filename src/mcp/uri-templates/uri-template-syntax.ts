/** RFC 6570, section 2: a template consists of literals and expressions. */
export type TemplatePart = string | Expression;

export interface Expression {
  readonly operator: Operator;
  readonly variables: readonly Variable[];
}

export interface Variable {
  readonly name: string;
  /** `*`: the value may contain the separator. */
  readonly exploded: boolean;
  /** `:n`: only the first n characters of the value are written. */
  readonly prefix: number | undefined;
}

export interface Operator {
  /** Written before the first variable. An expression with such a character may be absent as a whole. */
  readonly first: string;
  /** Written before each further variable. */
  readonly separator: string;
  /** Written as `name=value`. The value may be empty. */
  readonly named: boolean;
  /** Written after the name of a variable with an empty value. */
  readonly ifEmpty: string;
  /** Reserved characters are not encoded. */
  readonly reserved: boolean;
  /** Characters that a value contains only in encoded form. */
  readonly stops: string;
}

/** Undefined for unbalanced braces, unknown operators or modifiers, and too many variables. */
export function readUriTemplate(text: string): readonly TemplatePart[] | undefined {
  if (text.length > maxTemplateLength) return undefined;
  const parts: TemplatePart[] = [];
  let count = 0;
  for (const piece of text.split(/(\{[^{}]*\})/)) {
    if (piece === '') continue;
    const part = piece.startsWith('{') && piece.endsWith('}') ? readExpression(piece.slice(1, -1)) : piece;
    if (part === undefined || (typeof part === 'string' && /[{}]/.test(part))) return undefined;
    if (typeof part !== 'string') count += part.variables.length;
    if (count > maxVariables) return undefined;
    parts.push(part);
  }
  return parts;
}

/** Both bound the cost of matching. */
const maxTemplateLength = 2048;
const maxVariables = 16;

function readExpression(text: string): Expression | undefined {
  const special = operators.get(text.charAt(0));
  const variables: Variable[] = [];
  for (const item of (special === undefined ? text : text.slice(1)).split(',')) {
    const [, name, star, prefix] = variablePattern.exec(item) ?? [];
    if (name === undefined) return undefined;
    variables.push({ name, exploded: star !== undefined, prefix: prefix === undefined ? undefined : Number(prefix) });
  }
  return { operator: special ?? simple, variables };
}

/** More names than the RFC allows: servers use hyphens and other alphabets, and these have no other meaning. */
const variablePattern = /^([\p{L}\p{N}_.%-]+)(?:(\*)|:([1-9]\d{0,3}))?$/u;

const simple: Operator = { first: '', separator: ',', named: false, ifEmpty: '', reserved: false, stops: '/?#' };

const operators: ReadonlyMap<string, Operator> = new Map([
  ['+', { ...simple, reserved: true, stops: '' }],
  ['#', { ...simple, first: '#', reserved: true, stops: '' }],
  ['.', { ...simple, first: '.', separator: '.' }],
  ['/', { ...simple, first: '/', separator: '/' }],
  [';', { ...simple, first: ';', separator: ';', named: true, stops: '/?#;' }],
  ['?', { ...simple, first: '?', separator: '&', named: true, ifEmpty: '=', stops: '#&' }],
  ['&', { ...simple, first: '&', separator: '&', named: true, ifEmpty: '=', stops: '#&' }],
]);
