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
import type { RememberedServer } from '../../upstream/index.ts';
import { type DocumentRules, readJsonDocument } from './json-document.ts';
import type { WorkspaceLayout } from './layout.ts';
import { withLock } from './lock.ts';
import { replaceFile } from './write-file.ts';

/** The last known catalog of each server, so that lists can be answered before the servers are reached again. */
export interface CatalogStore {
  /** By server name. */
  load(): Promise<Map<string, RememberedServer>>;
  /** Writes within a second, together with other changes. */
  save(name: string, remembered: RememberedServer): void;
  /** Writes pending changes. Never rejects: this is a cache, so a failure is only logged. */
  flush(): Promise<void>;
}

export interface CatalogStoreOptions {
  readonly clock?: Clock;
  readonly random?: RandomBytes;
  readonly logger?: Logger;
  /** Above this size, servers seen longest ago are left out. */
  readonly maxBytes?: number;
}

const pauseMs = 1000;

export function createCatalogStore(layout: WorkspaceLayout, options: CatalogStoreOptions = {}): CatalogStore {
  const { clock = createSystemClock(), random = systemRandom, logger = createSilentLogger() } = options;
  const maxBytes = options.maxBytes ?? 16 * 1024 * 1024;
  const waiting = new Map<string, RememberedServer>();
  let timer: Timer | undefined;
  let last: Promise<void> = Promise.resolve();

  async function readAll(): Promise<Map<string, RememberedServer>> {
    try {
      const rows = (await readJsonDocument(layout, layout.catalog, catalogDocument(maxBytes)))?.servers ?? [];
      return new Map(rows.map(({ name, ...remembered }) => [name, remembered]));
    } catch (error) {
      logger.warn('catalog.read-failed', { file: layout.catalog, error: toHubError(error).message });
      return new Map();
    }
  }

  async function write(): Promise<void> {
    if (waiting.size === 0) return;
    const batch = new Map(waiting);
    waiting.clear();
    try {
      // Other processes of the workspace write here too.
      const merge = async (): Promise<void> => {
        const all = new Map([...(await readAll()), ...batch]);
        await replaceFile(layout, layout.catalog, serialise(all, maxBytes, logger), random);
      };
      await withLock(layout, 'catalog', merge, { clock, random });
    } catch (error) {
      for (const [name, remembered] of batch) if (!waiting.has(name)) waiting.set(name, remembered);
      logger.warn('catalog.not-saved', { file: layout.catalog, error: toHubError(error).message });
    }
  }

  function flush(): Promise<void> {
    timer?.cancel();
    timer = undefined;
    last = last.then(write);
    return last;
  }

  return {
    load: readAll,
    save(name, remembered) {
      waiting.set(name, remembered);
      timer ??= clock.setTimer(pauseMs, () => void flush());
    },
    flush,
  };
}

// Absent in files from versions that did not know it. It is no fingerprint of anything.
const fingerprint = z.string().default('');

const toolSchema = z.object({
  name: z.string(),
  text: z.string(),
  fingerprint: z.string(),
  safeToRepeat: z.boolean(),
  hints: z.object({ readOnly: z.boolean().nullable(), destructive: z.boolean().nullable() }),
  mirrored: z.array(z.object({ header: z.string(), path: z.array(z.string()) })),
});

const abilitiesSchema = z.object({
  resources: z.boolean(),
  subscriptions: z.boolean(),
  prompts: z.boolean(),
  completions: z.boolean(),
  logging: z.boolean(),
  // Absent in files from versions that did not know tasks.
  tasks: z.boolean().default(false),
});

const pins = z.array(z.tuple([z.string(), z.string()])).transform((rows) => new Map(rows));

const acceptedSchema = z.object({
  firstSeen: z
    .object({ instructions: z.string().optional(), tool: pins, prompt: pins, template: pins })
    .transform(({ instructions, ...lists }) => ({ instructions, ...lists })),
  former: z.array(
    z.object({
      kind: z.enum(['tool', 'prompt', 'template', 'instructions']),
      name: z.string(),
      text: z.string(),
      fingerprint: z.string(),
    }),
  ),
});

const serverSchema = z.object({
  name: z.string(),
  connectionKey: z.string(),
  protocolVersion: z.string(),
  era: z.enum(['legacy', 'modern']),
  verdictAt: z.number(),
  via: z.object({ place: z.int(), settled: z.boolean() }).optional(),
  tools: z.array(toolSchema),
  resources: z.array(z.object({ uri: z.string(), text: z.string() })).optional(),
  templates: z.array(z.object({ uriTemplate: z.string(), text: z.string(), fingerprint })).optional(),
  prompts: z.array(z.object({ name: z.string(), text: z.string(), fingerprint })).optional(),
  instructions: z.string().optional(),
  accepted: acceptedSchema.optional(),
  abilities: abilitiesSchema.optional(),
  at: z.number(),
});

/** A list of rows, because a server name may have a special meaning as the key of a JavaScript object. */
interface CatalogDocument {
  readonly servers: readonly (RememberedServer & { readonly name: string })[];
}

function catalogDocument(maxBytes: number): DocumentRules<CatalogDocument> {
  const schema = z.object({ version: z.literal(1), servers: z.array(serverSchema) });
  return { schema, maxBytes, fix: 'It is only a cache and is written anew.' };
}

/** The most recently seen servers that fit. */
function serialise(all: ReadonlyMap<string, RememberedServer>, maxBytes: number, logger: Logger): string {
  const [start, end] = ['{"version":1,"servers":[', ']}\n'];
  const rows: string[] = [];
  let left = maxBytes - start.length - end.length;
  for (const [name, remembered] of [...all].sort(([, a], [, b]) => b.at - a.at)) {
    const row = JSON.stringify({ name, ...remembered }, mapsAsRows);
    const size = Buffer.byteLength(row) + 1;
    if (size > left) {
      logger.warn('catalog.left-out', { server: name, bytes: size });
      continue;
    }
    left -= size;
    rows.push(row);
  }
  return start + rows.join(',') + end;
}

function mapsAsRows(_key: string, value: unknown): unknown {
  return value instanceof Map ? [...value] : value;
}
