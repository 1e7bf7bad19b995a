import { isAbsolute, relative } from 'node:path';
import type { PathUse } from './known-path-tools.ts';

/** The part of a path that protects it, as shown in messages. Undefined if nothing does. */
export function protectedPart(path: string, use: PathUse, workspace: string): string | undefined {
  const segments = fold(path).split('/');
  return inName(segments, use) ?? inWorkspace(fold(relative(workspace, path)), use);
}

/** File systems may ignore case and the form of letters, so all of them do here. */
function fold(path: string): string {
  return path.normalize('NFKC').toLowerCase();
}

/** Names that mean the same in every folder. */
function inName(segments: readonly string[], use: PathUse): string | undefined {
  for (const [index, segment] of segments.entries()) {
    if (keyPlaces.has(segment)) return segment;
    if (use === 'list') continue;
    if (segment.startsWith('.env')) return segment;
    if (segment !== '.git') continue;
    const inside = segments[index + 1];
    if (use !== 'read') return inside === undefined ? '.git' : `.git/${inside}`;
    if (inside === 'config' || inside === 'credentials') return `.git/${inside}`;
  }
  return undefined;
}

function inWorkspace(path: string, use: PathUse): string | undefined {
  if (use === 'list' || path.startsWith('..') || isAbsolute(path)) return undefined;
  if (isAtOrIn('.runs', path)) return '.runs';
  if (use === 'read') return undefined;
  if (/^quartermaster\.[^/]*$/.test(path)) return path;
  const inOne = configurationPlaces.find((place) => isAtOrIn(place, path));
  if (inOne !== undefined) return inOne;
  // A folder that is moved takes its contents with it, or brings them.
  return use === 'move' ? configurationPlaces.find((place) => path === '' || isAtOrIn(path, place)) : undefined;
}

function isAtOrIn(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

const keyPlaces: ReadonlySet<string> = new Set([
  ...['.ssh', '.gnupg', '.aws', '.azure', '.kube', '.docker', '.netrc', '.npmrc', '.pypirc', '.git-credentials'],
  '.password-store',
]);

/** Files and folders of the workspace that decide what the hub or a client starts. In lower case. */
export const configurationPlaces: readonly string[] = [
  ...['.mcp.json', '.squad', '.mcp', 'ops/adk/servers', 'catalog/agents', 'catalog/policies', 'mcp_permissions.yaml'],
  ...['.vscode/mcp.json', '.cursor', '.codex', '.gemini', '.claude', 'opencode.json', 'opencode.jsonc', '.opencode'],
  ...['.amazonq', '.zed', '.amp', '.kiro', '.roo', '.cline', '.windsurf', '.continue', '.junie', '.devcontainer'],
];
