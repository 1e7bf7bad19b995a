import { createUriMatcher } from './uri-template-match.ts';
import { type Expression, type Operator, readTemplate, type TemplatePart } from './uri-template-syntax.ts';

/** A URI template (RFC 6570) as MCP describes resources with it. All values are strings. */
export interface UriTemplate {
  /** Variable names in order of appearance, each once. */
  readonly variables: readonly string[];
  /** Literal characters before the first expression: how specific it is. */
  readonly literalStart: string;
  /**
   * The values of the variables if the URI could come from this template. Variables of expressions
   * that begin with a character of their own, such as `{?a}`, may be missing; `{a}` and `{+a}` never
   * are, nor are they empty. Of several readings the one with the most variables counts, and of
   * those the one in which earlier variables take more.
   */
  match(uri: string): ReadonlyMap<string, string> | undefined;
  /** The URI with the given values; undefined where a variable has none, or one that no URI can carry. */
  expand(values: ReadonlyMap<string, string>): string | undefined;
}

/** Undefined for what is no template that can be matched: unbalanced braces, unknown operators, absurd size. */
export function parseUriTemplate(text: string): UriTemplate | undefined {
  const parts = readTemplate(text);
  if (parts === undefined) return undefined;
  const names = parts.flatMap((part) => (typeof part === 'string' ? [] : part.variables.map(({ name }) => name)));
  const literalStart = typeof parts[0] === 'string' ? parts[0] : '';
  const match = createUriMatcher(parts);
  return {
    variables: [...new Set(names)],
    literalStart,
    match: (uri) => (uri.startsWith(literalStart) ? match(uri) : undefined),
    expand: (values) => expand(parts, values),
  };
}

function expand(parts: readonly TemplatePart[], values: ReadonlyMap<string, string>): string | undefined {
  let uri = '';
  for (const part of parts) {
    const text = typeof part === 'string' ? part : expandExpression(part, values);
    if (text === undefined) return undefined;
    uri += text;
  }
  return uri;
}

function expandExpression(
  { operator, variables }: Expression,
  values: ReadonlyMap<string, string>,
): string | undefined {
  const written: string[] = [];
  for (const { name, prefix } of variables) {
    const value = values.get(name);
    if (value === undefined || loneSurrogate.test(value)) return undefined;
    const encoded = encode(prefix === undefined ? value : [...value].slice(0, prefix).join(''), operator);
    const label = encoded === '' ? name + operator.ifEmpty : `${name}=`;
    written.push(operator.named ? label + encoded : encoded);
  }
  return operator.first + written.join(operator.separator);
}

/** It has no UTF-8, so it cannot be percent-encoded. */
const loneSurrogate = /\p{Surrogate}/u;

/** A percent sign is always encoded: values are plain text, and `match` decodes what is written here. */
function encode(value: string, operator: Operator): string {
  if (operator.reserved) return encodeURI(value);
  return encodeURIComponent(value).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
