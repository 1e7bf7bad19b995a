import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { createLineFinder, type OpenedTree, type TextMember, type TextNode } from './text-tree.ts';

/** Far more than any configuration needs; the parser calls itself for each level. */
const maxDepth = 200;

/** JSON as people write it: with comments and trailing commas. */
export function openJson(text: string): OpenedTree {
  const lineOf = createLineFinder(text);
  const broken = (offset: number, message: string): OpenedTree => ({ kind: 'broken', line: lineOf(offset), message });
  const deepAt = findDepth(text);
  if (deepAt !== undefined) return broken(deepAt, `it is nested more than ${maxDepth} levels`);
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [error] = errors;
  if (error !== undefined)
    return broken(error.offset, messages[printParseErrorCode(error.error)] ?? 'this is not valid JSON');
  return { kind: 'tree', tree: { text, dialect: 'jsonc', root: root && toNode(root, text), lineOf } };
}

const messages: Readonly<Record<string, string>> = {
  CommaExpected: 'a "," or a closing bracket is expected here',
  ColonExpected: 'a ":" is expected here',
  PropertyNameExpected: 'a name in quotes is expected here',
  ValueExpected: 'a value is expected here',
  CloseBraceExpected: 'a "}" is missing at the end',
  CloseBracketExpected: 'a "]" is missing at the end',
  EndOfFileExpected: 'something follows the end of the document',
  UnexpectedEndOfComment: 'this comment is not closed',
  UnexpectedEndOfString: 'this string is not closed',
};

/** The place where the text is nested too deeply. */
function findDepth(text: string): number | undefined {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (;;) {
    scanner.scan();
    const at = scanner.getTokenOffset();
    const sign = text[at];
    if (sign === undefined) return undefined;
    if (sign === '{' || sign === '[') depth += 1;
    else if (sign === '}' || sign === ']') depth -= 1;
    if (depth > maxDepth) return at;
  }
}

function toNode(node: Node, text: string): TextNode {
  const span = { start: node.offset, end: node.offset + node.length };
  const children = node.children ?? [];
  if (node.type === 'object') return { kind: 'map', members: toMembers(children, text), flow: true, ...span };
  if (node.type === 'array') {
    return { kind: 'list', items: children.map((child) => toNode(child, text)), flow: true, ...span };
  }
  const written = text.slice(span.start, span.end);
  // The parser types a value as any; a scalar is a string, a number, a boolean or null.
  const value: unknown = node.value;
  return { kind: 'scalar', ...span, value, text: typeof value === 'string' ? value : written, alias: false };
}

function toMembers(properties: readonly Node[], text: string): TextMember[] {
  return properties.flatMap(({ children: [key, value] = [] }) => {
    if (key === undefined) return [];
    const [keyStart, keyEnd] = [key.offset, key.offset + key.length];
    return [{ key: String(key.value), keyStart, keyEnd, value: value && toNode(value, text) }];
  });
}
