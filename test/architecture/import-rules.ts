import { posix } from 'node:path';
import { type Import, importsOf, type SourceFile } from './source-file.ts';
import { dispatchRooms, lazyPackages, packages, type Room, rooms } from './table.ts';

export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** The room a file of src/ belongs to; folders inside faces/ and apps/ are rooms of their own. */
export function roomOf(path: string): string {
  const parts = path.split('/').slice(1, -1);
  if (parts.length === 0) return 'root';
  return parts[0] === 'faces' || parts[0] === 'apps' ? parts.slice(0, 2).join('/') : (parts[0] ?? '');
}

export function isTestCode(path: string): boolean {
  return /\.(test|fixture)\.ts$|\/fixtures\//.test(path);
}

export function checkRoomEdges(file: SourceFile): Finding[] {
  const room = roomOf(file.path);
  const rule = ruleOf(room);
  if (rule === undefined) return [{ file: file.path, line: 1, message: `room ${room} is not in the table` }];
  return roomImports(file).flatMap(({ imported, target, targetRoom }) => {
    const at = { file: file.path, line: imported.line };
    if (!target.startsWith('src/')) return [{ ...at, message: `${imported.from} lies outside src/` }];
    if (isTestCode(target)) return [{ ...at, message: `${imported.from} is test code` }];
    if (targetRoom === room) return [];
    if (target !== `src/${targetRoom}/index.ts`) return [{ ...at, message: `${imported.from} is not a room's index` }];
    if (imported.namespace) return [{ ...at, message: `name what you import from ${targetRoom}` }];
    if (matches(rule.imports, targetRoom)) return [];
    if (!matches(rule.types ?? [], targetRoom)) return [{ ...at, message: `${room} may not import ${targetRoom}` }];
    return imported.kind === 'type' ? [] : [{ ...at, message: `${room} may import only types of ${targetRoom}` }];
  });
}

export function checkPackages(file: SourceFile): Finding[] {
  const room = roomOf(file.path);
  return importsOf(file).flatMap(({ from, line }) => {
    const name = packageOf(from);
    if (name === undefined) return [];
    const rule = packages[name];
    if (rule === undefined) return [{ file: file.path, line, message: `package ${name} is not in the table` }];
    const allowed = rule.only?.includes(room) ?? !rule.except?.includes(room);
    return allowed ? [] : [{ file: file.path, line, message: `${room} may not import ${name}: ${rule.why}` }];
  });
}

export function checkDispatch(file: SourceFile): Finding[] {
  if (dispatchRooms.includes(roomOf(file.path))) return [];
  return roomImports(file)
    .filter(({ targetRoom }) => targetRoom === 'upstream')
    .flatMap(({ imported }) => imported.names.map((name) => ({ name, line: imported.line })))
    .filter(({ name }) => /dispatch/i.test(name))
    .map(({ name, line }) => ({ file: file.path, line, message: `${name}: only calls act on an upstream` }));
}

/** The rooms each room imports, in types or values. */
export function roomGraph(files: readonly SourceFile[]): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>();
  for (const file of files) {
    const room = roomOf(file.path);
    const targets = graph.get(room) ?? new Set();
    for (const { targetRoom } of roomImports(file)) if (targetRoom !== room) targets.add(targetRoom);
    graph.set(room, targets);
  }
  return graph;
}

/** One cycle as a list of rooms whose last is its first; undefined where there is none. */
export function findCycle(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] | undefined {
  const finished = new Set<string>();
  const visit = (room: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(room)) return [...path.slice(path.indexOf(room)), room];
    if (finished.has(room)) return undefined;
    for (const next of graph.get(room) ?? []) {
      const cycle = visit(next, [...path, room]);
      if (cycle) return cycle;
    }
    finished.add(room);
    return undefined;
  };
  for (const room of graph.keys()) {
    const cycle = visit(room, []);
    if (cycle) return cycle;
  }
  return undefined;
}

/** Packages that an entry point loads at once although the table says: only when needed. */
export function checkLazyPackages(files: readonly SourceFile[]): Finding[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  return Object.entries(lazyPackages).flatMap(([entry, lazy]) => {
    const seen = new Set<string>();
    const pending = [entry];
    const findings: Finding[] = [];
    for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
      const file = byPath.get(path);
      if (file === undefined || seen.has(path)) continue;
      seen.add(path);
      for (const imported of importsOf(file).filter(({ kind, dynamic }) => kind === 'value' && !dynamic)) {
        const name = packageOf(imported.from);
        if (imported.from.startsWith('.')) pending.push(resolve(file, imported));
        else if (name !== undefined && lazy.includes(name)) {
          findings.push({ file: path, line: imported.line, message: `${entry} loads ${name} at once` });
        }
      }
    }
    return findings;
  });
}

function roomImports(file: SourceFile): { imported: Import; target: string; targetRoom: string }[] {
  return importsOf(file)
    .filter(({ from }) => from.startsWith('.'))
    .map((imported) => {
      const target = resolve(file, imported);
      return { imported, target, targetRoom: roomOf(target) };
    });
}

function resolve(file: SourceFile, { from }: Import): string {
  return posix.join(posix.dirname(file.path), from);
}

function packageOf(from: string): string | undefined {
  if (from.startsWith('.') || from.startsWith('node:')) return undefined;
  return from
    .split('/')
    .slice(0, from.startsWith('@') ? 2 : 1)
    .join('/');
}

function ruleOf(room: string): Room | undefined {
  return rooms[room] ?? rooms[room.replace(/\/.*/, '/*')];
}

function matches(allowed: readonly string[], room: string): boolean {
  return allowed.includes(room) || allowed.includes(room.replace(/\/.*/, '/*'));
}
