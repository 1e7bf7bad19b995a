import { type AST, ParseError, parseTOML } from 'toml-eslint-parser';

export type ParsedToml =
  | { readonly kind: 'parsed'; readonly top: AST.TOMLTopLevelTable }
  | { readonly kind: 'broken'; readonly line: number; readonly message: string };

/** Far more than any configuration needs; the parser calls itself for each level. */
const maxDepth = 200;

export function parseTomlText(text: string): ParsedToml {
  const deepAt = findDepth(text);
  if (deepAt !== undefined) {
    const line = text.slice(0, deepAt).split('\n').length;
    return { kind: 'broken', line, message: `it is nested more than ${maxDepth} levels` };
  }
  try {
    return { kind: 'parsed', top: parseTOML(text, { tomlVersion: 'latest' }).body[0] };
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    return { kind: 'broken', line: error.lineNumber, message: 'this is not valid TOML' };
  }
}

/** Brackets in texts and comments count too: no file that people write has so many of them open. */
function findDepth(text: string): number | undefined {
  let depth = 0;
  for (const { 0: bracket, index } of text.matchAll(/[[\]{}]/g)) {
    depth = Math.max(0, depth + (bracket === '[' || bracket === '{' ? 1 : -1));
    if (depth > maxDepth) return index;
  }
  return undefined;
}

export type TomlKeyPart = AST.TOMLBare | AST.TOMLQuoted;

export function keyName(part: TomlKeyPart): string {
  return part.type === 'TOMLBare' ? part.name : part.value;
}
