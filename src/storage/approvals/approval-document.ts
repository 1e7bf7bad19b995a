import { z } from 'zod';
import type { StoredEntry } from '../../approvals/index.ts';

/** One line of the log, opened. */
export const logRecordSchema = z.union([
  z.strictObject({ kind: z.literal('approval'), value: z.lazy(() => approvalSchema) }),
  z.strictObject({ kind: z.literal('grant'), value: z.lazy(() => grantSchema) }),
  z.strictObject({ kind: z.literal('removed'), id: z.string() }),
]);

export type LogRecord = StoredEntry | { readonly kind: 'removed'; readonly id: string };

export const logHeaderSchema = z.strictObject({
  approvals: z.literal(1),
  epoch: z.string(),
  generation: z.number(),
});

export const sealedLineSchema = z.strictObject({ n: z.number(), sealed: z.string() });

const approver = z.strictObject({ name: z.string(), via: z.enum(['terminal', 'command', 'api', 'page']) });
const decided = { by: approver, at: z.number() };
const claim = { ...decided, call: z.string(), nonce: z.string(), claimed: z.number() };

const stateSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('open') }),
  z.strictObject({ kind: z.literal('approved'), until: z.number(), ...decided }),
  z.strictObject({
    kind: z.literal('denied'),
    until: z.number(),
    reason: z.string().exactOptional(),
    suggestion: z.string().exactOptional(),
    ...decided,
  }),
  z.strictObject({ kind: z.literal('expired'), at: z.number() }),
  z.strictObject({ kind: z.literal('void'), at: z.number(), why: z.string() }),
  z.strictObject({ kind: z.literal('claimed'), ...claim }),
  z.strictObject({ kind: z.literal('spent'), ended: z.number(), outcome: z.string(), ...claim }),
  z.strictObject({ kind: z.literal('unknown'), ...claim }),
  z.strictObject({ kind: z.literal('closed'), ran: z.boolean(), closedBy: approver, closed: z.number(), ...claim }),
]);

const conditions = { credential: z.string(), definition: z.string(), rule: z.string() };
const caller = { project: z.string(), chain: z.array(z.string()), server: z.string(), subject: z.string() };

const approvalSchema = z.strictObject({
  id: z.string(),
  version: z.number(),
  callKey: z.string(),
  binding: z.strictObject({ ...conditions, ...caller, run: z.string(), arguments: z.string(), inputs: z.string() }),
  question: z.strictObject({
    runId: z.string(),
    rule: z.string().nullable(),
    ruleSource: z.string().nullable(),
    message: z.string().exactOptional(),
    approvers: z.array(z.string()).exactOptional(),
    toolClass: z.enum(['read', 'write', 'destructive']),
    asker: z.string(),
  }),
  opened: z.number(),
  expires: z.number(),
  seen: z.array(z.strictObject(decided)),
  state: stateSchema,
});

const grantSchema = z.strictObject({
  id: z.string(),
  version: z.number(),
  approval: z.string(),
  ...conditions,
  ...caller,
  run: z.string().exactOptional(),
  arguments: z.string().exactOptional(),
  maxCalls: z.number().exactOptional(),
  created: z.number(),
  until: z.number(),
  by: approver,
  used: z.number(),
  revoked: z.strictObject(decided).exactOptional(),
});
