import { z } from 'zod';
import { isJsonObject } from '../../base/index.ts';
import type { PlanFile } from '../../domain/index.ts';
import type { Approval, DeclinedItem, Pin, TrustRecord } from '../../trust/index.ts';
import type { DocumentRules } from '../files/json-document.ts';
import { isSameWorkspace, type WorkspaceIdentity } from '../files/state-origin.ts';
import { type EarlierDocument, earlierApprovals } from './earlier-approvals.ts';

export const textPairs: z.ZodType<readonly (readonly [string, string])[]> = z.array(z.tuple([z.string(), z.string()]));
const hash = z.string().regex(/^[0-9a-f]{64}$/);
const snapshotId = z.string().regex(/^[0-9a-z]{16}$/);

const act = {
  kind: z.enum(['server', 'policy']),
  name: z.string().max(64),
  at: z.int().nonnegative(),
  how: z.enum(['terminal', 'command', 'flag', 'digest']),
};

const declined: z.ZodType<DeclinedItem> = z.strictObject({ hash, ...act });

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

const pin: z.ZodType<Pin> = z.strictObject({ snapshot: snapshotId, files: z.array(planFile) });

const approval: z.ZodType<Approval> = z
  .strictObject({ hash: hash.nullable(), branch: z.string().max(1000), ...act, pin: pin.nullable() })
  .transform((each) => ({ ...each, hash: each.hash ?? undefined, pin: each.pin ?? undefined }));

const folder = z.strictObject({ inode: z.string(), born: z.string() }).optional().describe('The workspace');

interface CurrentDocument {
  readonly version: 2;
  readonly approvals: readonly Approval[];
  readonly declined: readonly DeclinedItem[];
  readonly main?: string | undefined;
  readonly folder?: WorkspaceIdentity | undefined;
}

export type TrustDocument =
  | CurrentDocument
  | (EarlierDocument & { readonly version: 1; readonly folder?: WorkspaceIdentity | undefined });

const fix = 'Restore it from a backup, or delete it and approve again with `qm trust`.';
const earlierPin = z.strictObject({ hash, snapshot: snapshotId, files: z.array(planFile) });

export const trustDocument: DocumentRules<TrustDocument> = {
  schema: z.discriminatedUnion('version', [
    z.strictObject({
      version: z.literal(2),
      approvals: z.array(approval),
      declined: z.array(declined),
      main: z.string().optional().describe('The main checkout of a worktree'),
      folder,
    }),
    z.strictObject({
      version: z.literal(1),
      approved: z.array(declined),
      declined: z.array(declined),
      servers: z.record(z.string(), earlierPin),
      policy: earlierPin.optional(),
      folder,
    }),
  ]),
  maxBytes: 64 * 1024 * 1024,
  fix,
};

export const textsDocument: DocumentRules<{ readonly snapshots: Readonly<Record<string, string>> }> = {
  schema: z.strictObject({ version: z.literal(1), snapshots: z.record(snapshotId, z.base64()) }),
  maxBytes: 256 * 1024 * 1024,
  fix,
  secret: true,
};

const nothing: CurrentDocument = { version: 2, approvals: [], declined: [] };

/** `now` is the workspace as it is. */
export function recordOf(document: TrustDocument = nothing, now: WorkspaceIdentity): TrustRecord {
  const record: TrustRecord =
    document.version === 2
      ? { approvals: document.approvals, declined: document.declined, main: document.main }
      : { approvals: earlierApprovals(document), declined: document.declined, main: undefined };
  return document.folder === undefined || isSameWorkspace(document.folder, now) ? record : ofAnotherFolder(record);
}

/** What was approved in one folder says nothing about the programs in another. Rules stay, so that nothing widens. */
function ofAnotherFolder(record: TrustRecord): TrustRecord {
  const approvals = record.approvals.filter((each) => each.kind === 'policy' || each.hash === undefined);
  return { ...record, approvals, replaced: true };
}

export function documentOf({ approvals, declined: declinedItems, main }: TrustRecord): object {
  return {
    version: 2,
    approvals: approvals.map((each) => ({ ...each, hash: each.hash ?? null, pin: each.pin ?? null })),
    declined: declinedItems,
    main,
  };
}
