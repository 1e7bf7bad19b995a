import type { OperationKind, TaskKind } from '../../domain/index.ts';
import type { ResultCaches } from '../cache/result-cache.ts';
import { plainTarget, type Target } from '../target.ts';
import type { Found } from './find-resource.ts';

/** An operation on a resource, template or prompt. */
export type ReadKind = Exclude<OperationKind, 'tool' | TaskKind>;

/** The entry that an agent asks for. */
export interface ReadPlace {
  readonly found: Found;
  readonly subject: 'prompt' | 'resource';
}

/** As the agent asked for it. */
export interface ReadRequest {
  readonly kind: ReadKind;
  readonly name: string;
}

export function readTarget(
  caches: ResultCaches,
  chain: readonly string[],
  { found, subject }: ReadPlace,
  { kind, name }: ReadRequest,
): Target {
  const { own, decision } = found;
  const { server, handles } = found.server;
  const facts = {
    kind,
    name,
    server,
    subjectName: `${subject}:${own}`,
    decision,
    dispatch: handles.dispatch,
    control: handles.control,
    ownName: own,
    ...paramsFor(kind, subject, own),
    safeToRepeat: true,
    tasks: false,
    cacheUse: kind === 'resource' ? caches.of(server)?.forResource() : undefined,
  };
  // A URI may be the caller's own text, and a listed one may contain configured secrets.
  return plainTarget(chain, facts, subject === 'resource');
}

function paramsFor(kind: ReadKind, subject: ReadPlace['subject'], own: string): Pick<Target, 'callHead' | 'carries'> {
  const text = JSON.stringify(own);
  if (kind === 'prompt') return { callHead: `"name":${text},"arguments":`, carries: 'arguments' };
  if (kind !== 'completion') return { callHead: `"uri":${text}`, carries: 'nothing' };
  const member = subject === 'prompt' ? 'name' : 'uri';
  return { callHead: `"ref":{"type":"ref/${subject}","${member}":${text}}`, carries: 'members' };
}
