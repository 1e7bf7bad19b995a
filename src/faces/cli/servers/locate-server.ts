import type { SourceRef } from '../../../domain/index.ts';
import { type Dialect, findTextMember, openTree, type TextTree } from '../../../workspace-files/index.ts';

/** The position of a server's own map in a file. */
export interface ServerMap {
  readonly tree: TextTree;
  readonly path: readonly string[];
}

/** Undefined in a format that is not edited here. */
export function locateServer(text: string, name: string, { file, line }: SourceRef): ServerMap | undefined {
  const dialect = dialectOf(file);
  const opened = dialect === undefined ? undefined : openTree(text, dialect);
  if (opened?.kind !== 'tree') return undefined;
  const { tree } = opened;
  const path = line === undefined ? undefined : findTextMember(tree, name, line);
  if (path !== undefined) return { tree, path };
  // A file for a single server has its map at the top level.
  return isServerFile(file) ? { tree, path: [] } : undefined;
}

/** Whether the file is of one server alone. */
export function isServerFile(file: string): boolean {
  return oneServerFolders.some((folder) => file.startsWith(folder));
}

const oneServerFolders = ['.mcp/servers/', 'ops/adk/servers/'];

function dialectOf(file: string): Dialect | undefined {
  if (/\.ya?ml$/.test(file)) return 'yaml';
  if (file.endsWith('.toml')) return 'toml';
  return /\.jsonc?$/.test(file) ? 'jsonc' : undefined;
}
