import { HubError } from '../../../base/index.ts';
import type { Configuration, Problem } from '../../../domain/index.ts';
import type { AddOrder } from './add-order.ts';
import { tryOut } from './config-change.ts';

/** A secret that is written out in an order. */
export interface LiteralInOrder {
  /** Its place, for messages. */
  readonly what: string;
  /** The keys that lead to its text in the body; undefined if it cannot be replaced there. */
  readonly path: readonly string[] | undefined;
  /** The secret itself, which may be a part of the text. Never put it in a message. */
  readonly value: string;
  /** A variable to use instead. */
  readonly variable: string;
}

/**
 * Finds a secret in `text`, which is the file with the order in it. Without an environment, variables have no values, so
 * any secret that is found is written out. Throws if the order has a mistake.
 */
export async function findLiteral(order: AddOrder, file: string, text: string): Promise<LiteralInOrder | undefined> {
  const { name, body } = order;
  const configuration = await tryOut({}, [{ file, text }]);
  const own = configuration.problems.filter(({ server }) => server === name);
  const wrong = own.find(({ severity }) => severity === 'error');
  if (wrong !== undefined) {
    throw new HubError('USAGE', wrong.message, wrong.fix === undefined ? {} : { hint: wrong.fix });
  }
  const literal = own.find((problem) => isLiteral(problem, body, configuration.secrets));
  if (literal === undefined && !holdsAny(JSON.stringify(body), configuration.secrets)) return undefined;
  const path = fieldOf(literal);
  const [section = 'a value', key] = path ?? [];
  return {
    what: key === undefined ? section : `${section}.${key}`,
    path,
    value: valueIn(path === undefined ? '' : textAt(body, path), configuration),
    variable: variableFor(name, section, key),
  };
}

/** The part of the text that was recognised, or all of it but a scheme such as `Bearer`. */
function valueIn(text: string, { secrets }: Configuration): string {
  return secrets.find((secret) => text.includes(secret)) ?? text.replace(/^(?:bearer|basic|token|apikey)\s+/i, '');
}

function variableFor(name: string, section: string, key: string | undefined): string {
  const words = section === 'env' && key !== undefined ? key : `${name}_TOKEN`;
  return words
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^(?=\d)/, '_');
}

/** A problem with a text without variables can only mean that the text itself is a secret. */
function isLiteral(problem: Problem, body: AddOrder['body'], secrets: readonly string[]): boolean {
  const path = fieldOf(problem);
  if (path === undefined || !['env', 'headers', 'args', 'url'].includes(path[0] ?? '')) return false;
  const text = textAt(body, path);
  return text !== '' && (!text.includes('${') || holdsAny(text, secrets));
}

/** Empty if there is no text. */
function textAt(body: AddOrder['body'], path: readonly string[]): string {
  let here: unknown = body;
  for (const key of path) here = typeof here === 'object' && here !== null ? Reflect.get(here, key) : undefined;
  return typeof here === 'string' ? here : '';
}

/** Splits `servers.NAME.env.KEY` into `env` and `KEY`; the last part may contain dots. */
function fieldOf(problem: Problem | undefined): [string, ...string[]] | undefined {
  const prefix = `servers.${problem?.server}.`;
  if (problem?.field?.startsWith(prefix) !== true) return undefined;
  const [section = '', ...rest] = problem.field.slice(prefix.length).split('.');
  return rest.length === 0 ? [section] : [section, rest.join('.')];
}

function holdsAny(text: string, secrets: readonly string[]): boolean {
  return secrets.some((secret) => text.includes(JSON.stringify(secret).slice(1, -1)));
}
