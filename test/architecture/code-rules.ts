import { type Finding, roomOf } from './import-rules.ts';
import { exportsOf, importsOf, isNode, type Node, nodesOf, type SourceFile, walk } from './source-file.ts';
import {
  forbiddenWords,
  type LongFunctions,
  largeClasses,
  longFunctions,
  machineAllowances,
  maxClassMembers,
  maxFileLines,
  maxFunctionLines,
  processParts,
} from './table.ts';

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
  const allowed = longFunctions.find((allowance) => allowance.file === file.path)?.lines ?? maxFunctionLines;
  return functionsOf(file)
    .filter(({ lines }) => lines > allowed)
    .map(({ line, lines }) => ({
      file: file.path,
      line,
      message: `a function of ${lines} lines, at most ${allowed}`,
    }));
}

/** Entries of the allow list that allow more than their file needs. */
export function staleLongFunctions(
  files: readonly SourceFile[],
  entries: readonly LongFunctions[] = longFunctions,
): readonly string[] {
  return entries.flatMap(({ file: path, lines: allowed }) => {
    const file = files.find((candidate) => candidate.path === path);
    if (file === undefined) return [`${path} does not exist`];
    const longest = Math.max(0, ...functionsOf(file).map(({ lines }) => lines));
    if (longest <= maxFunctionLines) return [`${path} has no function over ${maxFunctionLines} lines`];
    return longest < allowed ? [`${path} needs ${longest} lines, not ${allowed}`] : [];
  });
}

/** Interfaces ask the hub by its ports; views are what `calls` decides on. Only the operator is shown one. */
export function checkHubInside(file: SourceFile): Finding[] {
  if (!file.path.startsWith('src/faces/')) return [];
  const findings: Finding[] = [];
  const report = (node: Node, message: string): void => {
    findings.push({ file: file.path, line: file.lineOf(node.start), message });
  };
  walk(file.program, (node, parent) => {
    const isMember = node.type === 'MemberExpression';
    const isPattern = node.type === 'Property' && parent?.type === 'ObjectPattern';
    if (!isMember && !isPattern) return;
    const name = propertyName(isMember ? node.property : node.key) ?? '';
    if (name === 'views' || name === 'viewOf') report(node, 'faces may not look into views');
    if (deniedLookUps.includes(name)) report(node, `${name} also finds what is denied; only calls may use it`);
  });
  for (const { names, line } of importsOf(file)) {
    const view = names.find((name) => viewTypes.includes(name));
    if (view !== undefined)
      findings.push({ file: file.path, line, message: `faces may not look into views (${view})` });
  }
  return findings;
}

const viewTypes: readonly string[] = ['View', 'Views', 'ViewEntry', 'ViewSource'];
/** Members of a view that find denied entries too, for records. */
const deniedLookUps: readonly string[] = ['findTool', 'toolOrDenied', 'findDenied', 'deniedBySubject', 'appTool'];

/** Members of a class, static ones and the constructor included. */
export function checkClassSize(file: SourceFile): Finding[] {
  return classesOf(file)
    .filter(({ name, members }) => members > (largeClasses[name]?.members ?? maxClassMembers))
    .map(({ name, members, line }) => ({
      file: file.path,
      line,
      message: `${name} has ${members} members, at most ${maxClassMembers}`,
    }));
}

/** Exceptions that are not needed any more. */
export function staleLargeClasses(files: readonly SourceFile[]): readonly string[] {
  const sizes = new Map(files.flatMap(classesOf).map(({ name, members }) => [name, members]));
  return Object.keys(largeClasses)
    .filter((name) => (sizes.get(name) ?? 0) <= maxClassMembers)
    .map((name) => `${name} has ${sizes.get(name) ?? 0} members`);
}

function classesOf(file: SourceFile): { name: string; members: number; line: number }[] {
  const classes: { name: string; members: number; line: number }[] = [];
  walk(file.program, (node) => {
    if (!/^Class(Declaration|Expression)$/.test(node.type) || !isNode(node.body)) return;
    const name = isNode(node.id) ? String(node.id.name) : 'A class';
    classes.push({ name, members: nodesOf(node.body.body).length, line: file.lineOf(node.start) });
  });
  return classes;
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

/** Functions inside another count with it: a factory is read whole. */
function functionsOf(file: SourceFile): { line: number; lines: number }[] {
  const functions: { line: number; lines: number }[] = [];
  walk(file.program, (node) => {
    if (!isFunction(node)) return;
    const line = file.lineOf(node.start);
    functions.push({ line, lines: file.lineOf(node.end) - line + 1 });
  });
  return functions;
}
