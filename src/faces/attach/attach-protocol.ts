import { z } from 'zod';

/**
 * The attach protocol, frozen at 1: the client sends one JSON line, the hub answers with one. Then the connection
 * carries what the client asked for. Unknown members are ignored, so that later versions may add some.
 */
export const attachApi = 1;

/** For either line. */
export const maxAttachBytes = 64 * 1024;
/** How long the other side may take for its line. */
export const attachMs = 5000;

export const attachRequestSchema = z.object({
  api: z.number(),
  version: z.string().max(100),
  /** The real path of the workspace. */
  workspace: z.string(),
  agent: z.string(),
  run: z.string().nullish(),
  /** How long ago the client's program started: some clients wait only a second for their first list. */
  ageMs: z.number().nonnegative().optional(),
  /** The client understands `drainingLines`. */
  drains: z.boolean().optional(),
  /** An operation to run for the operator. Without it, MCP messages follow, one per line. */
  operation: z.object({ name: z.string(), params: z.unknown() }).optional(),
});

export type AttachRequest = Readonly<z.infer<typeof attachRequestSchema>>;

export const attachAnswerSchema = z.discriminatedUnion('ok', [
  z.object({
    ok: z.literal(true),
    api: z.number(),
    version: z.string(),
    pid: z.number(),
    /** The longest message that the hub reads. */
    maxLineBytes: z.number(),
    /** What a person should know about this agent. */
    notes: z.array(z.string()).default([]),
    /** Digests of the variables that servers take from the environment of the hub; null for one that is not set. */
    variables: z.object({ salt: z.string(), digests: z.record(z.string(), z.string().nullable()) }).optional(),
  }),
  z.object({ ok: z.literal(false), code: z.string(), message: z.string(), hint: z.string().optional() }),
]);

/**
 * The hub ends, and in the first case another one takes its place in a moment. A client that gets such a line sends no
 * further requests here; when the open ones are answered, it leaves and joins the next hub.
 */
export const drainingLines = {
  replaced: '{"jsonrpc":"2.0","method":"notifications/quartermaster/draining","params":{"replaced":true}}',
  ended: '{"jsonrpc":"2.0","method":"notifications/quartermaster/draining","params":{"replaced":false}}',
} as const;

export type AttachAnswer = Readonly<z.infer<typeof attachAnswerSchema>>;
