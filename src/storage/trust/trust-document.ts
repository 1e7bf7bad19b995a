import { z } from 'zod';
import { isJsonObject } from '../../base/index.ts';
import type { PlanFile } from '../../domain/index.ts';
import type { Approval, Pin, TrustRecord } from '../../trust/index.ts';
import type { DocumentRules } from '../files/json-document.ts';
import { isSameWorkspace, type WorkspaceIdentity } from '../files/state-origin.ts';

export const textPairs: z.ZodType<readonly (readonly [string, string])[]> = z.array(z.tuple([z.string(), z.string()]));
const hash = z.string().regex(/^[0-9a-f]{64}$/);
const snapshotId = z.string().regex(/^[0-9a-z]{16}$/);

const approval: z.ZodType<Approval> = z.strictObject({
  hash,
  kind: z.enum(['server', 'policy']),
  name: z.string().max(64),
  at: z.int().nonnegative(),
  how: z.enum(['terminal', 'command', 'flag', 'digest']),
});

const planFile: z.ZodType<PlanFile> = z.preprocess(
  withKind,
  z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('file'), path: z.string(), sha256: hash }),
    z.strictObject({ kind: z.literal('large'), path: z.string() }),
    z.strictObject({ kind: z.literal('link'), path: z.string(), target: z.string() }),
    z.strictObject({ kind: z.literal('absent'), path: z.string() }),
  ]),
);

/** Earlier versions kept only files. */
function withKind(file: unknown): unknown {
  if (!isJsonObject(file) || 'kind' in file) return file;
  return { kind: 'sha256' in file ? 'file' : 'large', ...file };
}

const pin: z.ZodType<Pin> = z.strictObject({ hash, snapshot: snapshotId, files: z.array(planFile) });

export interface TrustDocument {
  readonly approved: readonly Approval[];
  readonly declined: readonly Approval[];
  readonly servers: Readonly<Record<string, Pin>>;
  readonly policy?: Pin | undefined;
  readonly folder?: WorkspaceIdentity | undefined;
}

const fix = 'Restore it from a backup, or delete it and approve again with `qm trust`.';

export const trustDocument: DocumentRules<TrustDocument> = {
  schema: z.strictObject({
    version: z.literal(1),
    approved: z.array(approval),
    declined: z.array(approval),
    servers: z.record(z.string(), pin),
    policy: pin.optional(),
    folder: z.strictObject({ inode: z.string(), born: z.string() }).optional().describe('The workspace'),
  }),
  maxBytes: 64 * 1024 * 1024,
  fix,
};

export const textsDocument: DocumentRules<{ readonly snapshots: Readonly<Record<string, string>> }> = {
  schema: z.strictObject({ version: z.literal(1), snapshots: z.record(snapshotId, z.base64()) }),
  maxBytes: 256 * 1024 * 1024,
  fix,
  secret: true,
};

/** `now` is the workspace as it is. */
export function recordOf(document: TrustDocument | undefined, now: WorkspaceIdentity): TrustRecord {
  const { approved = [], declined = [], servers = {}, policy, folder } = document ?? {};
  const record = { approved, declined, servers: new Map(Object.entries(servers)), policy };
  return folder === undefined || isSameWorkspace(folder, now) ? record : ofAnotherFolder(record);
}

/** What was approved in one folder says nothing about the programs in another. Rules stay, so that nothing widens. */
function ofAnotherFolder(record: TrustRecord): TrustRecord {
  const approved = record.approved.filter(({ kind }) => kind === 'policy');
  return { ...record, approved, servers: new Map(), replaced: true };
}

export function documentOf({ approved, declined, servers, policy }: TrustRecord): object {
  return { version: 1, approved, declined, servers: Object.fromEntries(servers), policy };
}
