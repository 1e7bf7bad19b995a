import { z } from 'zod';
import type { ClientConnection, ConnectedFile } from '../../clients/index.ts';
import type { DocumentRules } from '../files/json-document.ts';

const keyPath = z.array(z.string());
const plain: z.ZodType<Plain> = z.lazy(() =>
  z.union([z.string(), z.number(), z.boolean(), z.array(plain), z.record(z.string(), plain)]),
);

type Plain = Extract<ConnectedFile['steps']['taken'][number]['step'], { kind: 'put' }>['value'];

const step = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('put'), path: keyPath, value: plain }),
  z.strictObject({ kind: z.literal('remove'), path: keyPath }),
  z.strictObject({ kind: z.literal('include'), path: keyPath, item: z.string() }),
]);

const steps = z.strictObject({
  taken: z.array(
    z.strictObject({
      step,
      replaced: z.string().optional(),
      behind: z.string().optional(),
      made: z.int().nonnegative(),
    }),
  ),
  splices: z.array(z.strictObject({ at: z.int().nonnegative(), removed: z.string(), inserted: z.string() })),
  after: z.string(),
});

/** A connection as it is sealed. */
export const connectionSchema: z.ZodType<ClientConnection> = z.strictObject({
  client: z.string(),
  agent: z.string(),
  entry: z.string(),
  file: z.string(),
  scope: z.enum(['local', 'project', 'user']),
  transport: z.enum(['stdio', 'http']),
  connectedAt: z.int().nonnegative(),
  files: z.array(
    z.strictObject({
      path: z.string(),
      dialect: z.enum(['yaml', 'jsonc', 'toml']),
      existed: z.boolean(),
      madeFolder: z.string().optional(),
      steps,
    }),
  ),
  switchedOff: z.array(
    z.strictObject({
      server: z.string(),
      key: z.string(),
      file: z.string(),
      how: z.enum(['setting', 'removed', 'moved']),
    }),
  ),
});

/** The connections of a workspace by client, each sealed: the text of a client's file may contain secrets. */
export interface ConnectionsDocument {
  readonly connections: Readonly<Record<string, string>>;
}

export const connectionsDocument: DocumentRules<ConnectionsDocument> = {
  schema: z.strictObject({ version: z.literal(1), connections: z.record(z.string(), z.string()) }),
  maxBytes: 256 * 1024 * 1024,
  fix: 'Restore the file, or delete it and remove the entries for the hub from the clients’ files yourself.',
  secret: true,
};
