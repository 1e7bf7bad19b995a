/** RFC 6570, section 2: a template is literal text and expressions in turn. */
export type TemplatePart = string | Expression;

export interface Expression {
  readonly operator: Operator;
  readonly variables: readonly Variable[];
}

export interface Variable {
  readonly name: string;
  /** `*`: the value may hold what otherwise separates variables. */
  readonly exploded: boolean;
  /** `:n`: only so many characters of the value are written. */
  readonly prefix: number | undefined;
}

export interface Operator {
  /** Before the first variable that is written. An expression that has it may be missing as a whole. */
  readonly first: string;
  /** Before each further one. */
  readonly separator: string;
  /** Written as `name=value`; such a value may be empty. */
  readonly named: boolean;
  /** How a named variable with an empty value ends. */
  readonly ifEmpty: string;
  /** Reserved characters are written as they are. */
  readonly reserved: boolean;
  /** Characters that no value holds unless they are encoded. */
  readonly stops: string;
}

/** Undefined for braces without a partner, operators and modifiers that are none, and too many variables. */
export function readTemplate(text: string): readonly TemplatePart[] | undefined {
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

/** Both bound what matching costs. */
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

/** More names than the RFC has: servers write hyphens and other alphabets, and nothing else means these. */
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
