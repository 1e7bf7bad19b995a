import { z } from 'zod';

/** The approvals of `/api/approvals`. Arguments come without secrets. */
export const approvalStates = [
  'open',
  'approved',
  'denied',
  'expired',
  'void',
  'claimed',
  'spent',
  'unknown',
  'closed',
] as const;

export const approvalSummarySchema = z.object({
  id: z.string(),
  agent: z.string(),
  chain: z.array(z.string()).exactOptional().describe('The agent and those that delegated to it, nearest first'),
  server: z.string(),
  tool: z.string(),
  arguments: z.unknown().describe('Null once they were dropped'),
  rule: z.string().nullable().describe('The rule or setting that asks, with its place'),
  run: z.string(),
  opened: z.iso.datetime(),
  expires: z.iso.datetime(),
  state: z.enum(approvalStates).describe('unknown: the call may have run'),
  by: z.string().exactOptional().describe('Who decided'),
  via: z.string().exactOptional().describe('terminal, command, api or page'),
  reason: z.string().exactOptional().describe('Why it was denied or became void'),
  call: z.string().exactOptional().describe('The id of the call that used it, as in the audit log'),
});

export const approvalListSchema = z.object({ approvals: z.array(approvalSummarySchema) });

export const approvalDetailSchema = approvalSummarySchema.extend({
  argumentsText: z.string().describe('As they would be sent, keys sorted'),
  risk: z.enum(['read', 'write', 'destructive']).describe('What the tool does'),
  message: z.string().exactOptional().describe('From the author of the rule'),
  approvers: z.array(z.string()).exactOptional().describe('Who may decide; absent: anybody with the admin token'),
  url: z.string().exactOptional(),
  seen: z.array(z.object({ by: z.string(), at: z.iso.datetime() })).describe('Who looked and decided nothing'),
  before: z
    .array(z.object({ ts: z.string(), server: z.string().nullable(), tool: z.string(), outcome: z.string() }))
    .describe('The last calls of the run'),
  lastApproved: z.object({ id: z.string(), argumentsText: z.string() }).exactOptional().describe('Of the same tool'),
});

const approverSchema = z
  .strictObject({
    name: z
      .string()
      .regex(/^[\w.@+-]{1,64}$/)
      .describe('The login name of the person'),
    terminal: z.boolean().describe('Whether a person typed the command'),
  })
  .describe('Who decides; without it the record says admin-token');

export const approveOrderSchema = z.strictObject({
  grant: z
    .strictObject({
      run: z.boolean().exactOptional().describe('Only for calls of the same run'),
      calls: z.int().min(1).max(10_000).exactOptional(),
      until: z.iso.datetime().exactOptional().describe('At most 30 days'),
      theseArguments: z.boolean().exactOptional().describe('Only with the same arguments'),
    })
    .exactOptional()
    .describe('More than one call'),
  approver: approverSchema.exactOptional(),
});

export const denyOrderSchema = z.strictObject({
  reason: z.string().min(1).max(1000).exactOptional().describe('The agent reads it'),
  suggest: z.string().max(60_000).exactOptional().describe('Arguments that are approved once instead, as JSON text'),
  approver: approverSchema.exactOptional(),
});

export const lookOrderSchema = z.strictObject({ approver: approverSchema.exactOptional() });

export const resolveOrderSchema = z.strictObject({ ran: z.boolean(), approver: approverSchema.exactOptional() });

export const pageUrlOrderSchema = z.strictObject({
  approver: approverSchema.shape.name.describe('The person who will open it; decisions are recorded under this name'),
});

export const pageUrlSchema = z.object({
  url: z.string().describe('Opens the page of the approval once'),
  expires: z.iso.datetime(),
});

export const grantSchema = z.object({
  id: z.string(),
  agent: z.string(),
  chain: z.array(z.string()).exactOptional(),
  server: z.string(),
  tool: z.string(),
  run: z.string().exactOptional(),
  arguments: z.unknown().optional().describe('Absent: any'),
  calls: z.number().exactOptional(),
  used: z.number(),
  until: z.iso.datetime(),
  by: z.string(),
  approval: z.string().describe('The approval that it came with'),
});

export const grantListSchema = z.object({ grants: z.array(grantSchema) });
export const approvedSchema = z.object({ approval: approvalSummarySchema, grant: grantSchema.exactOptional() });

export type ApprovalSummaryBody = z.infer<typeof approvalSummarySchema>;
export type ApprovalDetailBody = z.infer<typeof approvalDetailSchema>;
export type ApproveOrderBody = z.infer<typeof approveOrderSchema>;
export type DenyOrderBody = z.infer<typeof denyOrderSchema>;
export type ApproverBody = z.infer<typeof approverSchema>;
export type PageUrlBody = z.infer<typeof pageUrlSchema>;
export type GrantBody = z.infer<typeof grantSchema>;
export type ApprovedBody = z.infer<typeof approvedSchema>;
