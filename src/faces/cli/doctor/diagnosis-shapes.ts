import { z } from 'zod';
import { transportKinds } from '../../../domain/index.ts';
import { findingSchema, problemSchema } from '../../api/index.ts';

const transportKind = z.enum(transportKinds);

/** One server in the answer of `qm doctor`. */
export const doctorServerSchema = z.strictObject({
  name: z.string(),
  verdict: z
    .enum(['reachable', 'needs-auth', 'auth-failed', 'unreachable', 'invalid', 'untrusted', 'declined', 'disabled'])
    .describe('The last four were not probed'),
  source: z.string().describe('File and line'),
  transport: transportKind.nullable().describe('The transport over which the server answered, even with a refusal'),
  protocolVersion: z.string().nullable(),
  sessionId: z.string().nullable(),
  httpStatus: z.number().nullable(),
  durationMs: z.number().nullable(),
  tools: z.array(z.string()).nullable().describe('Tool names; null if the server did not list them'),
  attempts: z.array(
    z.strictObject({
      transport: transportKind,
      implicit: z.boolean().describe('Not configured, but tried after a 404 or 405'),
      verdict: z.enum(['reachable', 'needs-auth', 'auth-failed', 'unreachable']),
      httpStatus: z.number().nullable(),
      protocolVersion: z.string().nullable(),
      sessionId: z.string().nullable(),
      durationMs: z.number(),
      error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
    }),
  ),
  warnings: z.array(z.string()).describe('Warnings about the tools'),
  nextSteps: z.array(z.string()).describe('Next steps; empty if nothing is wrong'),
});

/** `qm doctor` */
export const doctorSchema = z.strictObject({
  run: z.string().nullable().describe('The run that records the probes in the ledger; null without probes'),
  servers: z.array(doctorServerSchema),
  problems: z.array(problemSchema.strict()),
  findings: z
    .array(findingSchema.strict())
    .describe('What in the definitions of these servers a person should look at'),
});

const listed = z.array(z.record(z.string(), z.unknown()));

/** `qm inspect`; with `--tool`, a single member of `tools`. */
export const inspectSchema = z.strictObject({
  name: z.string(),
  source: z.string().nullable().describe('File and line; null for a server that is not configured'),
  transport: transportKind,
  protocolVersion: z.string(),
  serverInfo: z.strictObject({ name: z.string(), version: z.string(), title: z.string().exactOptional() }).nullable(),
  instructions: z.string().nullable(),
  capabilities: z.record(z.string(), z.unknown()),
  isolation: z.enum(['shared', 'per-agent', 'per-session']).describe('Who shares a connection to it'),
  roots: z.enum(['none', 'client']).describe('Whose folders it gets as roots'),
  notOffered: z
    .array(z.enum(['elicitation', 'sampling', 'roots', 'logging']))
    .describe('Features that it cannot use, because clients share the connection or, for roots, by its configuration'),
  tools: listed.describe('Definitions as agents see them, including schemas'),
  resources: listed,
  resourceTemplates: listed,
  prompts: listed,
  exposed: z
    .array(z.strictObject({ kind: z.enum(['prompt', 'resource', 'template']), own: z.string(), name: z.string() }))
    .describe('Names and URIs that agents see in a different form'),
  warnings: z.array(z.string()),
});

export type DoctorAnswer = z.infer<typeof doctorSchema>;
export type DoctorServer = DoctorAnswer['servers'][number];
export type InspectAnswer = z.infer<typeof inspectSchema>;
