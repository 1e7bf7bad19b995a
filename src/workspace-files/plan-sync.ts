import { type Emitted, emitServer, isEmitted, type SourceFile } from './emit-server.ts';

export const sourceFolder = 'ops/adk/servers';
export const targetFolder = '.mcp/servers';

export interface PlannedFile {
  readonly file: string;
  readonly text: string;
  readonly source: string;
  readonly state: 'missing' | 'stale' | 'unchanged';
}

/** The changes `qm sync` would make, and the obstacles. */
export interface SyncPlan {
  readonly files: readonly PlannedFile[];
  /** Created by sync from a source that is gone. */
  readonly orphans: readonly string[];
  /** Sources that are not MCP servers. */
  readonly skipped: readonly { readonly file: string; readonly type: string }[];
  /** Nothing is written while there is an obstacle. */
  readonly obstacles: readonly Obstacle[];
}

export interface Obstacle {
  readonly file: string;
  readonly message: string;
  readonly fix: string;
}

export function planSync(sources: readonly SourceFile[], existing: readonly SourceFile[]): SyncPlan {
  const found = new Map(existing.map(({ file, text }) => [file, text]));
  const skipped: { file: string; type: string }[] = [];
  const obstacles: Obstacle[] = [];
  const files = new Map<string, PlannedFile>();
  for (const source of sources) {
    const emitted: Emitted = emitServer(source);
    if (emitted.kind === 'other') skipped.push({ file: source.file, type: emitted.type });
    if (emitted.kind === 'wrong') {
      obstacles.push({ file: source.file, message: `${source.file} ${emitted.message}.`, fix: emitted.fix });
    }
    if (emitted.kind !== 'server') continue;
    const file = `${targetFolder}/${emitted.id}.json`;
    const twin = files.get(file);
    const obstacle =
      twin === undefined ? findObstacle(emitted.id, source.file, found) : sameId(emitted.id, source, twin);
    if (obstacle !== undefined) obstacles.push(obstacle);
    else
      files.set(file, { file, text: emitted.text, source: source.file, state: stateOf(found.get(file), emitted.text) });
  }
  const orphans = existing.filter(({ file, text }) => !files.has(file) && isEmitted(text)).map(({ file }) => file);
  return { files: [...files.values()], orphans, skipped, obstacles };
}

function stateOf(before: string | undefined, after: string): PlannedFile['state'] {
  if (before === undefined) return 'missing';
  return before === after ? 'unchanged' : 'stale';
}

/** A file that a person wrote is left alone, so an emitted one with the same id would define the server twice. */
function findObstacle(id: string, source: string, found: ReadonlyMap<string, string>): Obstacle | undefined {
  const own = [`${id}.json`, `${id}.yaml`, `${id}.yml`]
    .map((name) => `${targetFolder}/${name}`)
    .find((file) => found.has(file) && !isEmitted(found.get(file) ?? ''));
  if (own === undefined) return undefined;
  return {
    file: own,
    message: `${own} was not made by \`qm sync\`, so it is left alone, but ${source} describes the same server.`,
    fix: `Remove one of the two.`,
  };
}

function sameId(id: string, source: SourceFile, twin: PlannedFile): Obstacle {
  return {
    file: source.file,
    message: `${source.file} and ${twin.source} have the same id "${id}".`,
    fix: 'Give each its own.',
  };
}
