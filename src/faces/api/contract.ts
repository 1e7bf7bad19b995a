import { z } from 'zod';
import { definitionKinds, serverStates, transportKinds } from '../../domain/index.ts';
import type { DefinitionFinding } from '../../governance/index.ts';
import { approvalStates } from './approvals/approval-contract.ts';

/** What `/api` takes and answers. Times are ISO 8601 in UTC unless a field says milliseconds. */
export const tokenOrderSchema = z.strictObject({
  agent: z.string().min(1).max(64).describe('The agent that will use the token'),
  ttlMs: z.int().positive().exactOptional().describe('Lifetime in milliseconds; 30 days unless given'),
  run: z.string().min(1).max(64).exactOptional().describe('The run its calls belong to'),
  parent: z.string().min(1).max(40).exactOptional().describe('The id of the token that delegates'),
});

/** With it, a command tells whether a person sits at its terminal. */
export const originHeader = 'x-quartermaster-origin';
export const commandOrigins = ['terminal', 'command'] as const;
export type CommandOrigin = (typeof commandOrigins)[number];

export const reloadOrderSchema = z.strictObject({
  files: z
    .array(z.string().min(1).max(1000))
    .max(1000)
    .exactOptional()
    .describe('Paths in the workspace; only changes to these files are applied. Default: all'),
});

export const withholdOrderSchema = z.strictObject({
  servers: z.array(z.string().min(1).max(64)).max(1000).exactOptional().describe('Default: all'),
});

export const issuedTokenSchema = z.object({
  token: z.string().describe('Shown once; only its hash is stored'),
  id: z.string(),
  agent: z.string(),
  expires: z.iso.datetime(),
});

export const tokenSummarySchema = z.object({
  id: z.string(),
  agent: z.string(),
  state: z.enum(['valid', 'expired', 'orphaned']).describe('orphaned: a token it was delegated from is gone'),
  created: z.iso.datetime(),
  expires: z.iso.datetime(),
  parent: z.string().exactOptional(),
  run: z.string().exactOptional(),
});

export const tokenListSchema = z.object({ tokens: z.array(tokenSummarySchema) });

export const problemSchema = z.object({
  severity: z.enum(['error', 'warning', 'note']).describe('note: nothing is wrong'),
  file: z.string().describe('Relative to the workspace'),
  line: z.number().exactOptional(),
  field: z.string().exactOptional().describe('Dotted path inside the file'),
  server: z.string().exactOptional(),
  agent: z.string().exactOptional().describe('The agent or role that gets nothing because of it'),
  message: z.string(),
  fix: z.string().exactOptional().describe('What to do about it'),
  fatal: z.literal(true).exactOptional().describe('A hub does not start with it'),
});

export const serverStatusSchema = z.object({
  name: z.string(),
  state: z.enum(serverStates),
  transport: z.enum(transportKinds).optional(),
  protocolVersion: z.string().optional(),
  tools: z.number().optional().describe('How many agents may get; absent while nobody knows'),
  changes: z.number().optional().describe('How many definitions differ from the accepted ones; absent: none'),
  withheld: z.number().optional().describe('How many definitions agents do not get because of that; absent: none'),
  source: z.string().describe('File and line'),
  hides: z.array(z.string()).describe('Places of weaker servers of the same name'),
  description: z.string().optional(),
  error: z.string().optional().describe('What went wrong last'),
  retryAt: z.number().optional().describe('When the next attempt is due, in milliseconds since the epoch'),
  attempt: z.number().optional().describe('Failed connects in a row'),
});

export const serversSchema = z.object({
  servers: z.array(serverStatusSchema),
  problems: z.array(problemSchema),
});

export const findingSchema = z.object({
  id: z.string().describe('A hash of the finding and of the text it is about'),
  kind: z.enum([
    'hidden-characters',
    'text-direction',
    'instruction',
    'same-name',
    'look-alike-name',
    'foreign-tool',
  ] satisfies DefinitionFinding['kind'][]),
  severity: z.enum(['warning', 'note']).describe('note: honest servers have it too'),
  server: z.string(),
  subject: z.string().nullable().describe('A tool, prompt:NAME or resource:URI; null: several tools of the server'),
  at: z.string().describe('Dotted path of the text in the definition'),
  message: z.string(),
  acknowledged: z.boolean().describe('A person looked at it and gave a reason why it may stay'),
});

export const findingsSchema = z.object({
  findings: z.array(findingSchema).describe('At most 100 of each server, warnings first'),
});

export const healthSchema = z.object({
  status: z.enum(['ok', 'degraded']).describe('degraded: calls cannot be recorded, so they are refused'),
  version: z.string(),
  workspace: z.string(),
  callsInFlight: z.number(),
  clientSessions: z.number().describe('Open sessions of clients of the older revisions'),
  ledger: z.string().describe('good, or what is wrong with it'),
  configuration: z.string().describe('current, or why an earlier one is in force'),
});

export const definitionChangeSchema = z.object({
  kind: z.enum([...definitionKinds, 'instructions']),
  name: z.string().describe("The server's own name or URI template; empty for instructions"),
  change: z
    .enum(['changed', 'new', 'removed', 'renamed'])
    .describe('renamed: equal to one that is gone, except for its name'),
  from: z.string().exactOptional().describe('The accepted name of a renamed one'),
});

const fingerprint = z.string().describe('sha256: and 64 hex digits');

export const serverDefinitionsSchema = z.object({
  server: z.string(),
  mode: z
    .enum(['enforce', 'warn'])
    .exactOptional()
    .describe('Absent without a lockfile: the definitions seen first count'),
  live: z.boolean().describe('Read over the connection that is open now'),
  definitions: z.array(z.object({ kind: definitionChangeSchema.shape.kind, name: z.string(), fingerprint })),
  changes: z.array(
    definitionChangeSchema.extend({
      before: z.string().exactOptional().describe('The accepted text; absent if this hub never saw it'),
      after: z.string().exactOptional().describe('The text that the server lists; absent if it lists none'),
    }),
  ),
});

export const definitionsSchema = z.object({ servers: z.array(serverDefinitionsSchema) });

/** Only exactly these are accepted: a server may have changed them again. */
export const acceptOrderSchema = z.strictObject({
  server: z.string().min(1).max(64),
  definitions: z
    .array(
      z.strictObject({
        kind: definitionChangeSchema.shape.kind,
        name: z.string().max(2048),
        fingerprint: fingerprint.max(71).exactOptional().describe('Absent: the removed definition is forgotten'),
      }),
    )
    .min(1)
    .max(1000),
});

const projectEvent = {
  time: z.iso.datetime(),
  project: z.string().describe('`workspace`: the files of the workspace'),
};
const serverEvent = { ...projectEvent, server: z.string() };
const approvalEvent = {
  ...serverEvent,
  id: z.string(),
  agent: z.string(),
  tool: z.string(),
  state: z.enum(approvalStates),
  expires: z.number().describe('When the question ends, in milliseconds since the epoch'),
  by: z.string().exactOptional().describe('Who decided'),
};

/** One of `GET /api/events`; its type is the name of the server-sent event too. */
export const eventSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('server.state'),
    ...serverEvent,
    state: z.enum(serverStates),
    previous: z.enum(serverStates).exactOptional().describe('Absent for a new server'),
    error: z.string().exactOptional().describe('What went wrong last'),
    retryAt: z.number().exactOptional().describe('When the next attempt is due, in milliseconds since the epoch'),
    attempt: z.number().exactOptional().describe('Failed connects in a row'),
  }),
  z.object({ type: z.literal('server.removed'), ...serverEvent }),
  z.object({
    type: z.literal('catalog.changed'),
    ...serverEvent,
    count: z
      .object({ tools: z.number(), resources: z.number(), templates: z.number(), prompts: z.number() })
      .exactOptional()
      .describe('Absent while the server is unavailable and its lists are withdrawn'),
  }),
  z.object({
    type: z.literal('catalog.findings'),
    ...serverEvent,
    count: z.number().describe('How many nobody acknowledged'),
    findings: z.array(findingSchema).describe('At most 20 of them'),
  }),
  z.object({
    type: z.literal('definition.changed'),
    ...serverEvent,
    changes: z.array(definitionChangeSchema).describe('The differences from the accepted definitions, at most 20'),
    count: z.number().describe('Of all differences; 0: there are none any more'),
    withheld: z.boolean().describe('Agents do not get the definitions that differ'),
  }),
  z.object({
    type: z.literal('config.applied'),
    ...projectEvent,
    servers: z.number(),
    problems: z.number(),
  }),
  z.object({
    type: z.literal('config.refused'),
    ...projectEvent,
    file: z.string().exactOptional(),
    message: z.string(),
  }),
  z.object({
    type: z.literal('config.retained'),
    ...projectEvent,
    file: z.string(),
    reason: z.enum(['missing', 'empty', 'unreadable']),
    message: z.string(),
  }),
  z.object({ type: z.literal('config.restored'), ...projectEvent, file: z.string() }),
  z.object({
    type: z.literal('trust.pending'),
    ...projectEvent,
    servers: z.array(z.string()).describe('At most 20'),
    policy: z.boolean(),
  }),
  z.object({
    type: z.literal('session.opened'),
    ...projectEvent,
    session: z.string(),
    agent: z.string(),
    run: z.string(),
    tokenId: z.string().exactOptional(),
  }),
  z.object({ type: z.literal('session.closed'), ...projectEvent, session: z.string(), agent: z.string() }),
  z.object({ type: z.literal('approval.opened'), ...approvalEvent }),
  z.object({ type: z.literal('approval.decided'), ...approvalEvent }),
  z.object({ type: z.literal('approval.claimed'), ...approvalEvent }),
  z.object({ type: z.literal('approval.closed'), ...approvalEvent }),
  z.object({ type: z.literal('hub.stopping'), time: z.iso.datetime() }),
  z.object({
    type: z.literal('events.lost'),
    time: z.iso.datetime().describe('Of the last one that was dropped'),
    count: z.number().describe('How many were dropped because this reader was too slow'),
  }),
]);

export const apiErrorSchema = z.object({
  error: z.object({ code: z.string(), message: z.string(), hint: z.string().exactOptional() }),
});

export type TokenOrderBody = z.infer<typeof tokenOrderSchema>;
export type IssuedTokenBody = z.infer<typeof issuedTokenSchema>;
export type TokenSummaryBody = z.infer<typeof tokenSummarySchema>;
export type ServersBody = z.infer<typeof serversSchema>;
export type FindingsBody = z.infer<typeof findingsSchema>;
export type HealthBody = z.infer<typeof healthSchema>;
export type DefinitionsBody = z.infer<typeof definitionsSchema>;
export type ServerDefinitionsBody = z.infer<typeof serverDefinitionsSchema>;
export type AcceptOrderBody = z.infer<typeof acceptOrderSchema>;
export type EventBody = z.infer<typeof eventSchema>;
