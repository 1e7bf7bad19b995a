import { definitionKinds } from '../../domain/index.ts';
import { checkNode } from '../check-node.ts';
import { parseJsonc } from '../files/parse-jsonc.ts';
import { child, type SourceNode } from '../files/source-tree.ts';
import type { Finding } from '../findings.ts';
import { type LockedServer, type Lockfile, lockedLists, lockfileName, lockfileSchema } from '../lock/lockfile.ts';
import { textAt } from '../texts.ts';
import { shellGrammar } from '../variables/interpolation.ts';
import { emptyContent, type FileOutcome, type Reader } from './reader.ts';

/** The accepted definitions of servers. Written by `qm lock`. */
export const lockFile: Reader = {
  place: { file: lockfileName },
  grammar: shellGrammar,
  workspaceNames: [],
  restricts: true,
  parse: parseJsonc,
  read,
};

/** A file with a mistake is refused whole: a part that is not understood may be the one that matters. */
function read(root: SourceNode, file: string): FileOutcome {
  const found = readLockfile(root, file);
  if (found.kind === 'mistake') return { kind: 'refused', finding: found.finding };
  return { kind: 'read', content: { ...emptyContent, lock: found.lockfile } };
}

export type LockfileOutcome =
  | { readonly kind: 'lockfile'; readonly lockfile: Lockfile }
  | { readonly kind: 'mistake'; readonly finding: Finding };

export function readLockfile(root: SourceNode, file: string): LockfileOutcome {
  const [mistake] = checkNode(lockfileSchema, root, { field: '', subject: file, unknownKeys: 'error' });
  if (mistake === undefined) return { kind: 'lockfile', lockfile: readServers(child(root, 'servers')) };
  const fix = 'Take it from version control again, or write it anew with `qm lock --fresh`.';
  return { kind: 'mistake', finding: { ...mistake, fix } };
}

function readServers(servers: SourceNode | undefined): Lockfile {
  if (servers?.kind !== 'map') return new Map();
  return new Map(servers.entries.map(({ key, value }) => [key, readLocked(value)]));
}

function readLocked(node: SourceNode): LockedServer {
  const [tool, prompt, template] = definitionKinds.map((kind) => textsByName(child(node, lockedLists[kind])));
  const none: ReadonlyMap<string, string> = new Map();
  return {
    instructions: textAt(node, 'instructions'),
    tool: tool ?? none,
    prompt: prompt ?? none,
    template: template ?? none,
    acknowledged: textsByName(child(node, 'acknowledged')),
  };
}

/** The schema has made sure that all values are texts. */
function textsByName(node: SourceNode | undefined): ReadonlyMap<string, string> {
  if (node?.kind !== 'map') return new Map();
  return new Map(node.entries.flatMap(({ key, value }) => (value.kind === 'scalar' ? [[key, value.text]] : [])));
}
