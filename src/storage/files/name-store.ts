import { z } from 'zod';
import {
  type Clock,
  createSilentLogger,
  createSystemClock,
  type Logger,
  type RandomBytes,
  systemRandom,
  type Timer,
  toHubError,
} from '../../base/index.ts';
import type { GivenName } from '../../domain/index.ts';
import { type DocumentRules, readJsonDocument } from './json-document.ts';
import type { WorkspaceLayout } from './layout.ts';
import { withLock } from './lock.ts';
import { replaceFile } from './write-file.ts';

/** The names that were given in a workspace, so that they mean the same after a restart. */
export interface NameStore {
  /** What stands, in a workspace with these servers. A file that cannot be used counts as none, and is told. */
  load(servers: ReadonlySet<string>): Promise<readonly GivenName[]>;
  /** Written soon, together with what comes meanwhile. What another process gave first stays as it is. */
  save(given: GivenName): void;
  /** The configuration has these servers now. */
  adopt(servers: ReadonlySet<string>): void;
  /** Writes what is waiting. Never rejects: a failure is logged and made up for with the next write. */
  flush(): Promise<void>;
}

export interface NameStoreOptions {
  readonly clock?: Clock;
  readonly random?: RandomBytes;
  readonly logger?: Logger;
  /** Over this the server with the most names loses its oldest ones. */
  readonly maxBytes?: number;
}

/** Shorter than that of the catalog: other processes learn names from the file alone. */
const pauseMs = 200;

/**
 * How long the names of a server that left the configuration are kept for it. A server that is switched off over a
 * holiday or for a piece of work gets them back, and what agents and rules still call by them is nobody else's meanwhile;
 * a server that is really replaced must not block them for ever.
 */
const reservedMs = 30 * 24 * 3600 * 1000;

export function createNameStore(layout: WorkspaceLayout, options: NameStoreOptions = {}): NameStore {
  const { clock = createSystemClock(), random = systemRandom, logger = createSilentLogger() } = options;
  const maxBytes = options.maxBytes ?? 8 * 1024 * 1024;
  const rules = nameDocument(maxBytes);
  let onDisk: NameDocument = nothing;
  let servers: ReadonlySet<string> = new Set();
  let waiting: GivenName[] = [];
  let isTold = false;
  let timer: Timer | undefined;
  let last: Promise<void> = Promise.resolve();

  async function read(): Promise<NameDocument> {
    try {
      onDisk = (await readJsonDocument(layout, layout.names, rules)) ?? nothing;
    } catch (error) {
      if (!isTold) logger.warn('names.unreadable', { file: layout.names, error: toHubError(error).message });
      isTold = true;
      onDisk = nothing;
    }
    return onDisk;
  }

  async function write(): Promise<void> {
    const batch = waiting;
    waiting = [];
    try {
      await withLock(layout, 'names', () => merge(batch), { clock, random });
    } catch (error) {
      waiting = [...batch, ...waiting];
      logger.warn('names.not-saved', { file: layout.names, error: toHubError(error).message });
    }
  }

  async function merge(batch: readonly GivenName[]): Promise<void> {
    const before = await read();
    const { names, refused } = withNew(before.names, batch);
    for (const { server, own, name } of refused) logger.warn('names.given-elsewhere', { server, own, name });
    const after = standing({ ...before, names }, servers, clock.now());
    if (isSame(before, after)) return;
    await replaceFile(layout, layout.names, serialise(after, maxBytes, logger), random);
    onDisk = after;
  }

  function writeSoon(): void {
    timer ??= clock.setTimer(pauseMs, () => void flush());
  }

  function adopt(next: ReadonlySet<string>): void {
    servers = next;
    if (!isSame(onDisk, standing(onDisk, servers, clock.now()))) writeSoon();
  }

  function flush(): Promise<void> {
    const isDue = timer !== undefined || waiting.length > 0;
    timer?.cancel();
    timer = undefined;
    if (isDue) last = last.then(write);
    return last;
  }

  return {
    async load(present) {
      await read();
      adopt(present);
      return standing(onDisk, servers, clock.now()).names;
    },
    save(given) {
      waiting.push(given);
      writeSoon();
    },
    adopt,
    flush,
  };
}

interface NameDocument {
  readonly names: readonly GivenName[];
  /** Servers that have names and are not configured, with the time when that was first seen. */
  readonly gone: readonly { readonly server: string; readonly since: number }[];
}

const nothing: NameDocument = { names: [], gone: [] };

const givenSchema: z.ZodType<GivenName> = z.strictObject({
  kind: z.enum(['tool', 'prompt', 'resource']),
  naming: z.enum(['prefixed', 'preserved']),
  server: z.string(),
  own: z.string(),
  name: z.string(),
});

function nameDocument(maxBytes: number): DocumentRules<NameDocument> {
  const gone = z.array(z.strictObject({ server: z.string(), since: z.number() }));
  const schema = z.strictObject({ version: z.literal(1), gone, names: z.array(givenSchema) });
  return { schema, maxBytes, fix: 'It is written anew; tools that share a name may change theirs once.' };
}

/** Of two processes that gave a name, or named a tool, the one that wrote first was right. */
function withNew(
  before: readonly GivenName[],
  batch: readonly GivenName[],
): { readonly names: readonly GivenName[]; readonly refused: readonly GivenName[] } {
  if (batch.length === 0) return { names: before, refused: [] };
  const names = [...before];
  const refused: GivenName[] = [];
  const holders = new Map(names.map((given) => [nameKey(given), given]));
  const subjects = new Map(names.map((given) => [subjectKey(given), given]));
  for (const given of batch) {
    const known = subjects.get(subjectKey(given)) ?? holders.get(nameKey(given));
    if (known === undefined) {
      names.push(given);
      holders.set(nameKey(given), given);
      subjects.set(subjectKey(given), given);
    } else if (subjectKey(known) !== subjectKey(given) || known.name !== given.name) refused.push(given);
  }
  return { names, refused };
}

function nameKey({ kind, naming, name }: GivenName): string {
  return `${kind}\0${naming}\0${name}`;
}

function subjectKey({ kind, naming, server, own }: GivenName): string {
  return `${kind}\0${naming}\0${server}\0${own}`;
}

/** Without the names of servers that have long left, and with the dates of those that leave. */
function standing(document: NameDocument, servers: ReadonlySet<string>, now: number): NameDocument {
  const since = new Map(document.gone.map((left) => [left.server, left.since]));
  const named = new Set(document.names.map(({ server }) => server));
  const gone = [...named]
    .filter((server) => !servers.has(server))
    .map((server) => ({ server, since: since.get(server) ?? now }))
    .filter((left) => now - left.since < reservedMs);
  const kept = new Set([...servers, ...gone.map(({ server }) => server)]);
  return { names: document.names.filter(({ server }) => kept.has(server)), gone };
}

/** Names are only ever added at the end or taken out. */
function isSame(before: NameDocument, after: NameDocument): boolean {
  return before.names.length === after.names.length && JSON.stringify(before.gone) === JSON.stringify(after.gone);
}

function serialise({ gone, names }: NameDocument, maxBytes: number, logger: Logger): string {
  const [start, end] = [`{"version":1,"gone":${JSON.stringify(gone)},"names":[`, ']}\n'];
  const rows = names.map((given) => ({ server: given.server, text: JSON.stringify(given) }));
  const room = maxBytes - Buffer.byteLength(start) - end.length;
  return start + withinSize(rows, room, logger).join(',\n') + end;
}

interface Row {
  readonly server: string;
  readonly text: string;
}

/** A server that makes up names without end must cost nobody else theirs. */
function withinSize(rows: readonly Row[], room: number, logger: Logger): string[] {
  const sizeOf = ({ text }: Row): number => Buffer.byteLength(text) + 2;
  const byServer = new Map<string, { rows: Row[]; size: number }>();
  let total = 0;
  for (const row of rows) {
    const group = byServer.get(row.server) ?? { rows: [], size: 0 };
    group.rows.push(row);
    group.size += sizeOf(row);
    total += sizeOf(row);
    byServer.set(row.server, group);
  }
  const left = new Set(rows);
  while (total > room) {
    const [server, biggest] = [...byServer].reduce((a, b) => (b[1].size > a[1].size ? b : a));
    const oldest = biggest.rows.splice(0, Math.ceil(biggest.rows.length / 10));
    const freed = oldest.reduce((sum, row) => sum + sizeOf(row), 0);
    for (const row of oldest) left.delete(row);
    biggest.size -= freed;
    total -= freed;
    logger.warn('names.left-out', { server, names: oldest.length });
  }
  return [...left].map(({ text }) => text);
}
