import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { listFiles } from '../support/list-files.ts';

export interface SourcePatterns {
  /** Every regular expression that is written as a literal. */
  readonly literals: readonly { readonly place: string; readonly pattern: RegExp }[];
  /** Files that put one together from texts. */
  readonly composing: readonly string[];
}

export function readSourcePatterns(root: string): SourcePatterns {
  const literals: { place: string; pattern: RegExp }[] = [];
  const composing = new Set<string>();
  for (const file of listFiles(root, ['src'], /(?<!\.(?:test|fixture))\.ts$/)) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const node of nodesOf(parseAst(text, { lang: 'ts' }))) {
      if (isRegExpCall(node)) composing.add(file);
      if (!isRegExpLiteral(node)) continue;
      const line = text.slice(0, node.start).split('\n').length;
      const { pattern, flags } = node.regex;
      literals.push({ place: `${file}:${line} /${pattern}/${flags}`, pattern: new RegExp(pattern, flags) });
    }
  }
  return { literals, composing: [...composing] };
}

function* nodesOf(value: unknown): Generator<object> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value;
  for (const inner of Object.values(value)) yield* nodesOf(inner);
}

interface RegExpLiteral {
  readonly start: number;
  readonly regex: { readonly pattern: string; readonly flags: string };
}

function isRegExpLiteral(node: object): node is RegExpLiteral {
  return 'regex' in node && typeof node.regex === 'object' && node.regex !== null;
}

function isRegExpCall(node: object): boolean {
  if (!('type' in node && 'callee' in node)) return false;
  const { callee } = node;
  const isCall = node.type === 'NewExpression' || node.type === 'CallExpression';
  return isCall && typeof callee === 'object' && callee !== null && 'name' in callee && callee.name === 'RegExp';
}
