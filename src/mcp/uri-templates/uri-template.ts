import type { WorkBudget } from '../../base/index.ts';
import { createUriMatcher } from './uri-template-match.ts';
import { type Expression, type Operator, readUriTemplate, type TemplatePart } from './uri-template-syntax.ts';

/** A URI template (RFC 6570), as MCP uses it for resources. All values are strings. */
export interface UriTemplate {
  /** The distinct variable names, in order of appearance. */
  readonly variables: readonly string[];
  /** The literal text before the first expression. It shows how specific the template is. */
  readonly literalStart: string;
  /**
   * The values of the variables, if the URI can come from this template. An expression with an operator character of
   * its own, such as `{?a}`, may be absent; `{a}` and `{+a}` are always present and not empty. If several readings are
   * possible, the one with the most variables wins, then the one in which earlier variables take more. Undefined too if
   * the budget is too small; the budget then counts as spent.
   */
  match(uri: string, budget?: WorkBudget): ReadonlyMap<string, string> | undefined;
  /** The URI with these values. Undefined if a variable has no value, or one that a URI cannot carry. */
  expand(values: ReadonlyMap<string, string>): string | undefined;
}

/** Undefined if the text cannot be matched: unbalanced braces, unknown operators, excessive size. */
export function parseUriTemplate(text: string): UriTemplate | undefined {
  const parts = readUriTemplate(text);
  if (parts === undefined) return undefined;
  const names = parts.flatMap((part) => (typeof part === 'string' ? [] : part.variables.map(({ name }) => name)));
  const literalStart = typeof parts[0] === 'string' ? parts[0] : '';
  const last = parts.length > 1 ? parts.at(-1) : '';
  const literalEnd = typeof last === 'string' ? last : '';
  const matcher = createUriMatcher(parts);
  return {
    variables: [...new Set(names)],
    literalStart,
    match(uri, budget) {
      if (budget?.spend(glanceCost) === false) return undefined;
      // Cheap checks first: matching is expensive.
      if (uri.length < literalStart.length + literalEnd.length) return undefined;
      if (!uri.startsWith(literalStart) || !uri.endsWith(literalEnd)) return undefined;
      return budget?.spend(matcher.costOf(uri.length)) === false ? undefined : matcher.match(uri);
    },
    expand: (values) => expand(parts, values),
  };
}

/** The cost of comparing start and end. */
const glanceCost = 8;

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

/** A lone surrogate has no UTF-8 encoding, so it cannot be percent-encoded. */
const loneSurrogate = /\p{Surrogate}/u;

/** Always encodes a percent sign: values are plain text, and `match` decodes them. */
function encode(value: string, operator: Operator): string {
  if (operator.reserved) return encodeURI(value);
  return encodeURIComponent(value).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
