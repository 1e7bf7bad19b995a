import { type Finding, roomOf } from './import-rules.ts';
import { childrenOf, exportsOf, importsOf, isNode, type Node, nodesOf, type SourceFile, walk } from './source-file.ts';
import { forbiddenWords, machineAllowances, maxFileLines, maxFunctionLines, processParts } from './table.ts';

const machineMembers =
  /^(Date\.now|Math\.random|performance\.now|process\.hrtime|AbortSignal\.timeout|crypto\.random\w+)$/;

export function checkProcess(file: SourceFile): Finding[] {
  const room = roomOf(file.path);
  const whole = importsOf(file)
    .filter(({ from }) => from === 'node:process' || from === 'process')
    .map(({ line }) => ({ file: file.path, line, message: 'use the global process, so that this test sees it' }));
  const parts = memberUses(file, 'process')
    .filter(({ name }) => processParts[name]?.includes(room) === false)
    .map(({ name, line }) => ({ file: file.path, line, message: `${room} may not touch process.${name}` }));
  return [...whole, ...parts];
}

export function checkConsole(file: SourceFile): Finding[] {
  if (roomOf(file.path) === 'faces/cli') return [];
  return memberUses(file, 'console').map(({ line }) => ({ file: file.path, line, message: 'log through Logger' }));
}

/** Time and randomness that the file takes from the machine itself. */
export function machineUses(file: SourceFile): { name: string; line: number }[] {
  const imported = importsOf(file).flatMap(({ from, names, line }) => {
    const isTimers = /^(node:)?timers(\/promises)?$/.test(from);
    if (!isTimers && from !== 'node:crypto') return [];
    const machine = isTimers ? /^(?!setImmediate$)/ : /^(random\w+|getRandomValues|webcrypto)$/;
    return names.filter((name) => machine.test(name)).map((name) => ({ name, line }));
  });
  const members = ['Date', 'Math', 'performance', 'process', 'crypto', 'AbortSignal']
    .flatMap((object) => memberUses(file, object).map(({ name, line }) => ({ name: `${object}.${name}`, line })))
    .filter(({ name }) => machineMembers.test(name));
  return [...imported, ...members, ...timerUses(file)];
}

export function checkMachine(file: SourceFile): Finding[] {
  const allowed = machineAllowances.find((allowance) => allowance.file === file.path)?.uses ?? [];
  return machineUses(file)
    .filter(({ name }) => !allowed.includes(name))
    .map(({ name, line }) => ({ file: file.path, line, message: `${name}: take a Clock or RandomBytes instead` }));
}

export function checkExports(file: SourceFile): Finding[] {
  return nodesOf(file.program.body).flatMap((node) => {
    const at = { file: file.path, line: file.lineOf(node.start) };
    if (node.type === 'ExportDefaultDeclaration') return [{ ...at, message: 'no default exports' }];
    if (node.type === 'ExportAllDeclaration') return [{ ...at, message: 'no export *: name what is exported' }];
    const asDefault = nodesOf(node.specifiers).some(({ exported }) => isNode(exported) && exported.name === 'default');
    return asDefault ? [{ ...at, message: 'no default exports' }] : [];
  });
}

export function checkModuleState(file: SourceFile): Finding[] {
  return nodesOf(file.program.body)
    .map((node) => (isNode(node.declaration) ? node.declaration : node))
    .filter((node) => node.type === 'VariableDeclaration' && (node.kind !== 'const' || startsEmpty(node)))
    .map((node) => ({ file: file.path, line: file.lineOf(node.start), message: 'state belongs in a factory' }));
}

export function checkFileSize(file: Pick<SourceFile, 'path' | 'lines'>): Finding[] {
  if (file.lines <= maxFileLines) return [];
  return [{ file: file.path, line: maxFileLines, message: `${file.lines} lines, at most ${maxFileLines}` }];
}

export function checkFunctionSize(file: SourceFile): Finding[] {
  const findings: Finding[] = [];
  walk(file.program, (node) => {
    if (!isFunction(node)) return;
    const lines = ownLines(file, node);
    if (lines <= maxFunctionLines) return;
    const message = `a function of ${lines} lines, at most ${maxFunctionLines}`;
    findings.push({ file: file.path, line: file.lineOf(node.start), message });
  });
  return findings;
}

export function checkFileName({ path }: Pick<SourceFile, 'path'>): Finding[] {
  return path.split('/').flatMap((part) => {
    const name = part.replace(/(\.(test|fixture|bench|d|config))?\.m?ts$|\.mjs$/, '');
    if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) return [{ file: path, line: 1, message: `${part} is not kebab-case` }];
    const word = name.split('-').find((candidate) => forbiddenWords.includes(candidate));
    return word ? [{ file: path, line: 1, message: `"${word}" says nothing; name the one thing it holds` }] : [];
  });
}

export function checkExportedNames(file: SourceFile): Finding[] {
  return exportsOf(file).flatMap(({ name, line }) => {
    const words = name.split(/(?=[A-Z])|_/).map((word) => word.toLowerCase());
    const word = words.find((candidate) => forbiddenWords.includes(candidate));
    return word ? [{ file: file.path, line, message: `"${word}" in ${name} says nothing` }] : [];
  });
}

/** `object.name`, `object['name']`, `globalThis.object.name` and `const { name } = object`. */
function memberUses(file: SourceFile, object: string): { name: string; line: number }[] {
  const uses: { name: string; line: number }[] = [];
  walk(file.program, (node) => {
    const line = file.lineOf(node.start);
    if (node.type === 'MemberExpression' && isGlobal(node.object, object)) {
      const name = propertyName(node.property);
      if (name !== undefined) uses.push({ name, line });
    }
    if (node.type === 'VariableDeclarator' && isGlobal(node.init, object) && isNode(node.id)) {
      for (const property of nodesOf(node.id.properties)) {
        const name = propertyName(property.key);
        if (name !== undefined) uses.push({ name, line });
      }
    }
  });
  return uses;
}

function isGlobal(node: unknown, name: string): boolean {
  if (!isNode(node)) return false;
  if (node.type === 'Identifier') return node.name === name;
  if (node.type !== 'MemberExpression' || !isGlobal(node.object, 'globalThis')) return false;
  return propertyName(node.property) === name;
}

function propertyName(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  const name = node.type === 'Literal' ? node.value : node.name;
  return typeof name === 'string' ? name : undefined;
}

/** Timers as globals, called or handed on, and the current date. */
function timerUses(file: SourceFile): { name: string; line: number }[] {
  const uses: { name: string; line: number }[] = [];
  walk(file.program, (node, parent) => {
    const line = file.lineOf(node.start);
    if (node.type === 'NewExpression' && isGlobal(node.callee, 'Date') && nodesOf(node.arguments).length === 0) {
      uses.push({ name: 'new Date()', line });
    }
    const timer = node.type === 'Identifier' && (node.name === 'setTimeout' || node.name === 'setInterval');
    const isKey = parent?.key === node || (parent?.property === node && !isGlobal(parent.object, 'globalThis'));
    if (timer && !isKey && parent?.type !== 'TSTypeQuery') uses.push({ name: String(node.name), line });
  });
  return uses;
}

/** An empty container at module level can only be there to be filled. */
function startsEmpty(declaration: Node): boolean {
  return nodesOf(declaration.declarations).some(({ init }) => {
    if (!isNode(init)) return false;
    if (init.type === 'ArrayExpression') return nodesOf(init.elements).length === 0;
    const container = isNode(init.callee) && /^(Weak)?(Map|Set)$/.test(String(init.callee.name));
    return init.type === 'NewExpression' && container && nodesOf(init.arguments).length === 0;
  });
}

function isFunction(node: Node): boolean {
  return /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type);
}

/**
 * A function's lines, where a function inside it counts as its first and last line: a factory is not
 * long because it holds many short functions, and each of those is measured by itself.
 */
function ownLines(file: SourceFile, node: Node): number {
  const span = (inner: Node): number => file.lineOf(inner.end) - file.lineOf(inner.start) + 1;
  const nested = (outer: Node): number =>
    childrenOf(outer).reduce(
      (sum, child) => sum + (isFunction(child) ? Math.max(0, span(child) - 2) : nested(child)),
      0,
    );
  return span(node) - nested(node);
}
