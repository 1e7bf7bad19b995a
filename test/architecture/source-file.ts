import { parseAst } from 'vitest/node';

/** A node of the syntax tree, read generically: rules look only at the few fields they need. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export interface SourceFile {
  /** Relative to the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly lines: number;
  readonly program: Node;
  lineOf(position: number): number;
}

export interface Import {
  readonly from: string;
  readonly line: number;
  readonly kind: 'type' | 'value';
  readonly dynamic: boolean;
  readonly names: readonly string[];
  /** `import * as x`: hides which names are used. */
  readonly namespace: boolean;
}

export function parseSource(path: string, text: string): SourceFile {
  // The parser's own node types are a large union; a generic view of the same plain objects is enough here.
  const program = parseAst(text, { lang: 'ts' }) as unknown as Node;
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return {
    path,
    text,
    program,
    lines: text.endsWith('\n') ? starts.length - 1 : starts.length,
    lineOf: (position) => starts.findLastIndex((start) => start <= position) + 1,
  };
}

/** Visits every node below and including `root`, parents first. */
export function walk(root: Node, visit: (node: Node, parent: Node | undefined) => void): void {
  let nodes = flattened.get(root);
  if (nodes === undefined) {
    nodes = [];
    flatten(root, undefined, nodes);
    flattened.set(root, nodes);
  }
  for (const { node, parent } of nodes) visit(node, parent);
}

interface Visited {
  readonly node: Node;
  readonly parent: Node | undefined;
}

/** A dozen rules walk through each file, so its tree is flattened once. */
const flattened = new WeakMap<Node, Visited[]>();

function flatten(node: Node, parent: Node | undefined, into: Visited[]): void {
  into.push({ node, parent });
  for (const child of childrenOf(node)) flatten(child, node, into);
}

function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flatMap((value) => (Array.isArray(value) ? value : [value]))
    .filter(isNode);
}

/** Static and dynamic imports, re-exports and `import('x').T` types. */
export function importsOf(file: SourceFile): Import[] {
  const found: Import[] = [];
  walk(file.program, (node) => {
    const from = isNode(node.source) ? node.source.value : undefined;
    if (typeof from !== 'string') return;
    const line = file.lineOf(node.start);
    if (node.type === 'ImportExpression') {
      found.push({ from, line, kind: 'value', dynamic: true, names: [], namespace: false });
    } else if (node.type === 'TSImportType') {
      found.push({ from, line, kind: 'type', dynamic: false, names: textOf(file, node.qualifier), namespace: false });
    } else {
      found.push({ from, line, dynamic: false, ...specifiersOf(file, node) });
    }
  });
  return found;
}

/** Names that the file exports, types marked as such. */
export function exportsOf(file: SourceFile): { name: string; line: number; kind: 'type' | 'value' }[] {
  return nodesOf(file.program.body)
    .filter((node) => node.type === 'ExportNamedDeclaration')
    .flatMap((node) => {
      const line = file.lineOf(node.start);
      const kind = kindOf(node);
      if (isNode(node.declaration)) {
        const declared = isTypeOnly(node.declaration) ? 'type' : 'value';
        return declaredNames(file, node.declaration).map((name) => ({ name, line, kind: declared as typeof kind }));
      }
      return nodesOf(node.specifiers).map((specifier) => ({
        name: textOf(file, specifier.exported)[0] ?? '',
        line,
        kind: kind === 'type' ? kind : kindOf(specifier),
      }));
    });
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';
}

export function nodesOf(value: unknown): Node[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** The source text of a node as a list of one, or an empty list. */
export function textOf(file: SourceFile, node: unknown): string[] {
  return isNode(node) ? [file.text.slice(node.start, node.end)] : [];
}

function specifiersOf(file: SourceFile, node: Node): Pick<Import, 'kind' | 'names' | 'namespace'> {
  const specifiers = nodesOf(node.specifiers);
  const allTypes = specifiers.length > 0 && specifiers.every((specifier) => kindOf(specifier) === 'type');
  return {
    kind: kindOf(node) === 'type' || allTypes ? 'type' : 'value',
    names: specifiers.flatMap((specifier) => textOf(file, specifier.imported ?? specifier.local)),
    namespace:
      node.type === 'ExportAllDeclaration' ||
      specifiers.some((specifier) => specifier.type === 'ImportNamespaceSpecifier'),
  };
}

function kindOf(node: Node): 'type' | 'value' {
  return node.importKind === 'type' || node.exportKind === 'type' ? 'type' : 'value';
}

function isTypeOnly(declaration: Node): boolean {
  return declaration.type === 'TSInterfaceDeclaration' || declaration.type === 'TSTypeAliasDeclaration';
}

function declaredNames(file: SourceFile, declaration: Node): string[] {
  const declarators = nodesOf(declaration.declarations);
  const ids = declarators.length > 0 ? declarators.map((declarator) => declarator.id) : [declaration.id];
  return ids.flatMap((id) => (isNode(id) && typeof id.name === 'string' ? [id.name] : textOf(file, id)));
}
