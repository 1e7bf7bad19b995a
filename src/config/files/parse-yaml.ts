import {
  CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLMap,
} from 'yaml';
import {
  maxDepth,
  maxNodes,
  type ParsedSource,
  type SourceEntry,
  type SourceMap,
  type SourceNode,
  type SourceScalar,
  sourceMap,
} from './source-tree.ts';

export function parseYaml(text: string): ParsedSource {
  const excess = findExcess(text);
  if (excess !== undefined) return { kind: 'broken', ...excess };
  const lines = new LineCounter();
  // The readers find repeated keys and know both lines; the library's own check is quadratic. Pretty errors would quote
  // the file, including secrets.
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) return broken(lines, error.pos[0], describe(error.code, error.message));
  if (document.contents === null) return { kind: 'tree', root: nothing };
  try {
    return {
      kind: 'tree',
      root: convert({ document, lines, budget: { nodes: maxNodes, aliases: maxAliases } }, document.contents, 0),
    };
  } catch (thrown) {
    if (thrown instanceof TreeError) return broken(lines, thrown.offset, thrown.message);
    throw thrown;
  }
}

interface Conversion {
  readonly document: Document;
  readonly lines: LineCounter;
  readonly budget: { nodes: number; aliases: number };
}

/** Aborts the conversion. Never leaves this file. */
class TreeError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

const nothing: SourceScalar = { kind: 'scalar', line: 1, value: null, text: '' };

/** The library searches the whole document for each alias. */
const maxAliases = 1_000;

/** Enough for thousands of servers. */
const maxTokens = 300_000;

/** Runs before the parser, which would exhaust memory on a few megabytes of brackets. */
function findExcess(text: string): { line: number; column: number; message: string } | undefined {
  let line = 1;
  let flow = 0;
  let indicators = 0;
  let tokens = 0;
  for (const token of new Lexer().lex(text)) {
    tokens += 1;
    const type = CST.tokenType(token);
    if (type === 'newline') indicators = 0;
    else if (type === 'flow-map-start' || type === 'flow-seq-start') flow += 1;
    else if (type === 'flow-map-end' || type === 'flow-seq-end') flow -= 1;
    else if (type === 'seq-item-ind' || type === 'explicit-key-ind') indicators += 1;
    if (flow > maxDepth || indicators > maxDepth)
      return { line, column: 1, message: `nested more than ${maxDepth} levels` };
    if (tokens > maxTokens) return { line, column: 1, message: `more than ${maxTokens} words and signs` };
    line += newLines(token);
  }
  return undefined;
}

function newLines(token: string): number {
  let count = 0;
  for (let at = token.indexOf('\n'); at >= 0; at = token.indexOf('\n', at + 1)) count += 1;
  return count;
}

/** These have a fixed text. The library's other messages may quote the file. */
const fixedMessages: ReadonlySet<string> = new Set([
  'BAD_INDENT',
  'BAD_SCALAR_START',
  'BLOCK_AS_IMPLICIT_KEY',
  'BLOCK_IN_FLOW',
  'MISSING_CHAR',
  'MULTILINE_IMPLICIT_KEY',
  'TAB_AS_INDENT',
]);

function describe(code: string, message: string): string {
  if (code === 'MULTIPLE_DOCS') return 'more than one document (a second "---")';
  if (code === 'RESOURCE_EXHAUSTION') return 'nested too deeply';
  return fixedMessages.has(code) ? message : 'this is not valid YAML';
}

function broken(lines: LineCounter, offset: number, message: string): ParsedSource {
  const position = lines.linePos(offset);
  return { kind: 'broken', line: Math.max(1, position.line), column: Math.max(1, position.col), message };
}

function convert(conversion: Conversion, node: Node, depth: number): SourceNode {
  const offset = node.range?.[0] ?? 0;
  conversion.budget.nodes -= 1;
  if (conversion.budget.nodes < 0) throw new TreeError(`more than ${maxNodes} values; aliases count each time`, offset);
  if (depth > maxDepth) throw new TreeError(`nested more than ${maxDepth} levels, or an alias inside itself`, offset);
  const line = conversion.lines.linePos(offset).line;
  if (isAlias(node)) {
    conversion.budget.aliases -= 1;
    if (conversion.budget.aliases < 0) throw new TreeError(`more than ${maxAliases} aliases`, offset);
    const target = node.resolve(conversion.document);
    if (target === undefined) throw new TreeError('an alias without an anchor', offset);
    return convert(conversion, target, depth + 1);
  }
  if (isMap(node)) return convertMap(conversion, node, line, depth);
  if (isSeq(node)) {
    const items = node.items.map((item) => convertValue(conversion, item, line, depth + 1));
    return { kind: 'list', line, items };
  }
  return scalar(node, line);
}

function convertMap(conversion: Conversion, map: YAMLMap, line: number, depth: number): SourceMap {
  const entries: SourceEntry[] = [];
  for (const pair of map.items) {
    const key = isAlias(pair.key) ? pair.key.resolve(conversion.document) : pair.key;
    const offset = isScalar(pair.key) || isAlias(pair.key) ? (pair.key.range?.[0] ?? 0) : (map.range?.[0] ?? 0);
    if (!isScalar(key)) throw new TreeError('a key that is not text', offset);
    const keyLine = conversion.lines.linePos(offset).line;
    const { text } = scalar(key, keyLine);
    entries.push({ key: text, line: keyLine, value: convertValue(conversion, pair.value, keyLine, depth + 1) });
  }
  return sourceMap(line, entries);
}

function convertValue(conversion: Conversion, value: unknown, line: number, depth: number): SourceNode {
  if (value === null || value === undefined) return { kind: 'scalar', line, value: null, text: '' };
  // A parsed document contains only nodes. Plain values occur only in documents built by a program.
  return convert(conversion, value as Node, depth);
}

function scalar(node: Node, line: number): SourceScalar {
  const value: unknown = isScalar(node) ? node.value : null;
  const source = isScalar(node) ? (node.source ?? '') : '';
  if (typeof value === 'string') return { kind: 'scalar', line, value, text: value };
  if (value === null || typeof value === 'number' || typeof value === 'boolean') {
    return { kind: 'scalar', line, value, text: source };
  }
  // Dates, binary and the like exist only through tags or in YAML 1.1. They stay as written.
  return { kind: 'scalar', line, value: source, text: source };
}
