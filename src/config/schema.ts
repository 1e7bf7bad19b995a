// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { z } from 'zod';
import { builtinNames, type Isolation, type RootsSource } from '../domain/index.ts';
import { labelPattern, ruleSchema } from './rules/rule-schema.ts';

/** Server and agent names. They become parts of tool names, file names and policy patterns. */
export const namePattern: RegExp = /^(?!__proto__$)[A-Za-z0-9._-]{1,64}$/;

/** The longest delay of a timer. */
const maxSeconds = 2_147_483;

/** YAML turns `8080` and `true` into other types. Read as text, they are what was written. */
const text = z.union([z.string(), z.number(), z.boolean()]);

const toolNames = z.array(z.string());

export const transportTypes = ['stdio', 'local', 'http', 'streamable-http', 'sse', 'builtin'] as const;

const seconds = z.number().positive().max(maxSeconds);

/** The transport keys of all formats like this one. */
export const transportShape = {
  type: z
    .enum(transportTypes)
    .optional()
    .describe(
      'How to reach the server: stdio (or local) with command, http (or streamable-http) or sse (the older transport) with url, builtin with builtin. Derived from these keys by default.',
    ),
  builtin: z
    .enum(builtinNames)
    .optional()
    .describe('A built-in server, instead of a program; takes args, env and cwd like a program.'),
  command: z
    .union([z.string().min(1), z.array(text).min(1)])
    .optional()
    .describe(
      'Program to start for a stdio server; as a list, program and arguments. No shell is involved. Variables: ${NAME}.',
    ),
  args: z.array(text).optional().describe('Arguments of the program. Variables: ${NAME}.'),
  env: z
    .record(z.string(), text)
    .optional()
    .describe('Environment of the program, in addition to a safe base; nothing else is passed on. Variables: ${NAME}.'),
  cwd: z
    .string()
    .min(1)
    .optional()
    .describe('Working directory of the program; relative to the workspace, which is also the default.'),
  url: z.string().min(1).optional().describe('Address of an http server. Variables: ${NAME}.'),
  headers: z
    .record(z.string(), text)
    .optional()
    .describe('Headers sent to an http server; one that expands to nothing is left out. Variables: ${NAME}.'),
};

export const limitsSchema = z
  .strictObject({
    timeout_s: seconds.optional().describe('Seconds a call may stay silent; progress restarts the clock. Default 60.'),
    max_s: seconds.optional().describe('Maximum duration of a call in seconds. Default 600.'),
    rate_per_min: z.number().positive().max(1_000_000).optional().describe('Calls in any minute. Default no limit.'),
    rate_limit: z
      .number()
      .positive()
      .max(1_000_000)
      .optional()
      .describe('The same as rate_per_min; write one of them.'),
    concurrency: z.int().min(1).max(1_000_000).optional().describe('Calls in flight at once. Default 256.'),
    grace_s: seconds
      .optional()
      .describe('Seconds for which the tools of this server stay listed while it is unavailable. Default 3600.'),
    max_result_bytes: z
      .int()
      .min(1024)
      .optional()
      .describe('Largest result in bytes; a larger one is dropped with an error that says so. Default no limit.'),
  })
  .describe('Limits on calls to this server.');

export const cacheSchema = z
  .strictObject({
    ttl_s: seconds.describe('Seconds for which a result is cached.'),
    max_mb: z
      .number()
      .positive()
      .max(1024)
      .optional()
      .describe(
        'Size of the cache of this server in megabytes; the least recently used results are dropped. Default 16.',
      ),
    tools: toolNames
      .optional()
      .describe('Tools whose results are cached, by their own names. Default: tools that are known to only read.'),
    resources: z.boolean().optional().describe('false caches no resources. Default true.'),
  })
  .describe('Caches results for the same call, until a tool that may write is called. Default: no cache.');

export const isolations = ['shared', 'per-agent', 'per-session'] as const satisfies readonly Isolation[];
export const rootsSources = ['none', 'client'] as const satisfies readonly RootsSource[];

const labels = z.array(z.string().regex(labelPattern)).max(20);

export const labelsSchema = z
  .union([labels, z.record(z.string(), labels)])
  .describe(
    'Labels that a run gets by a call: a list for the whole server, or lists by tool, with "*" for the whole server.',
  );

export const resultsSchema = z
  .strictObject({
    redact: z
      .array(
        z.strictObject({
          regex: z.string().min(1).max(1000).describe('An RE2 expression. What it matches is replaced.'),
          with: z.string().max(40).optional().describe('The replacement. Default [redacted].'),
        }),
      )
      .min(1)
      .max(20)
      .optional()
      .describe('Replaces parts of the texts in results and errors.'),
    delimit: z
      .boolean()
      .optional()
      .describe('true puts marks around texts that are labelled untrusted-content. Default false.'),
  })
  .describe('Changes results before agents get them. Default: nothing is changed.');

export const serverSchema = z
  .strictObject({
    ...transportShape,
    description: z.string().optional().describe('What the server is for; shown in lists.'),
    enabled: z.boolean().optional().describe('false disables the server. Default true.'),
    shared: z.boolean().optional().describe('true gives the server also to agents without a route. Default false.'),
    tools: toolNames
      .optional()
      .describe('Tools to expose, by their own or their prefixed name; ["*"] is all, [] is none. Default all.'),
    excludeTools: toolNames.optional().describe('Tools to hide, by their own or their prefixed name.'),
    limits: limitsSchema.optional(),
    rate_limit: limitsSchema.shape.rate_limit.describe('The same as limits.rate_per_min; write one of them.'),
    fallback: z
      .array(z.strictObject(transportShape))
      .optional()
      .describe('Other transports, tried in order if the one before cannot be reached.'),
    scopes: z
      .array(z.string())
      .optional()
      .describe('What the server may be used for, such as read:files. Without a write scope the server is read-only.'),
    readOnly: z.boolean().optional().describe('true exposes only tools that are known to only read. Default false.'),
    writeRequiresApproval: z
      .boolean()
      .optional()
      .describe('true requires approval for tools that may write. Default false.'),
    trustAnnotations: z.boolean().optional().describe('true trusts the readOnlyHint of the server. Default false.'),
    isolation: z
      .enum(isolations)
      .optional()
      .describe('Who shares a connection: all callers, or each agent or client session has its own. Default shared.'),
    roots: z
      .enum(rootsSources)
      .optional()
      .describe('client passes on the folders of the calling client that lie in the workspace. Default none.'),
    paths: z
      .literal('local')
      .optional()
      .describe('The server works on files of this machine. Known file servers need no such mark.'),
    labels: labelsSchema.optional(),
    results: resultsSchema.optional(),
    cache: cacheSchema.optional(),
    instead: z
      .string()
      .optional()
      .describe('What an agent can do while the server is unavailable; shown with the error.'),
  })
  .describe('One upstream MCP server.');

export const toolFilterSchema = z
  .strictObject({
    include: toolNames.optional().describe('Tools this agent may use; ["*"] is all, [] is none.'),
    exclude: toolNames.optional().describe('Tools hidden from this agent.'),
  })
  .describe('Which tools of one server the agent gets.');

/** The rules of a `policies` section. */
export const rulesShape = {
  tools: z
    .record(z.string(), ruleSchema)
    .optional()
    .describe('server.tool, with * as wildcard, to allow, require-approval or deny. An exact name beats a pattern.'),
  destructive: z
    .enum(['ask', 'deny'])
    .optional()
    .describe('What happens to calls of destructive tools. A rule with the exact name of the tool lifts it.'),
};

export const policiesSchema = z
  .strictObject({
    ...rulesShape,
    mode: z
      .enum(['enforce', 'shadow'])
      .optional()
      .describe('shadow enforces none of these rules and records what they would have decided. Default enforce.'),
    shadow: z
      .strictObject(rulesShape)
      .optional()
      .describe('Rules to try in place of those beside it: the hub records what they would have decided.'),
  })
  .describe('Rules on calls. Deny beats require-approval beats allow across sources.');

export const budgetSchema = z
  .strictObject({
    calls_per_minute: z.int().min(1).max(1_000_000).optional().describe('Calls in any minute.'),
    calls_per_hour: z.int().min(1).max(1_000_000).optional().describe('Calls in any hour.'),
    calls_per_run: z.int().min(1).optional().describe('Calls in one run.'),
    bytes_per_run: z.int().min(1).optional().describe('Bytes of arguments and results in one run.'),
  })
  .describe('How much this agent may call; a role gives each of its agents a budget of its own. Default no limit.');

export const agentSchema = z
  .strictObject({
    role: z
      .string()
      .optional()
      .describe(
        'Its role: another entry that also applies to it. Where both list servers or tools, it gets only those in both.',
      ),
    servers: z.array(z.string()).optional().describe('Servers this agent gets. Absent: not routed by this entry.'),
    requires: z
      .strictObject({ mcp: z.array(z.string()).describe('Servers this agent gets.') })
      .optional()
      .describe('The same as servers, as in agent files; set only one of the two.'),
    tools: z
      .record(z.string(), toolFilterSchema)
      .optional()
      .describe('Per server, which of its tools this agent gets.'),
    policies: policiesSchema.optional(),
    budget: budgetSchema.optional(),
  })
  .describe('One agent (or role).');

const retentionSchema = z.strictObject({
  days: z.number().min(1).max(3650).optional().describe('Files that changed last before that are removed. Default 7.'),
  megabytes: z
    .number()
    .int()
    .min(32)
    .max(1_048_576)
    .optional()
    .describe('If all files together are larger, the oldest are removed. Default 1024.'),
});

export const ledgerSchema = z
  .strictObject({
    sync: z
      .enum(['os', 'always'])
      .optional()
      .describe('os survives the death of the hub; always survives a power cut too, and is slower. Default os.'),
    keep: retentionSchema.optional().describe('How much of the journal is kept; it is what qm calls reads.'),
    runs: retentionSchema.optional().describe('How much of the run files is kept, which are copies.'),
  })
  .describe('How calls are recorded.');

export const serveSchema = z
  .strictObject({
    publicUrl: z
      .string()
      .regex(
        /^https?:\/\/[\w.-]{1,253}(:\d{1,5})?\/?$/,
        'must be http or https, a host and perhaps a port: https://hub.example',
      )
      .optional()
      .describe('Where people reach this hub from other machines, for links to its pages. Its host is served too.'),
    allowedHosts: z
      .array(z.string().min(1))
      .optional()
      .describe('Host names that requests may use, in addition to loopback.'),
    allowedOrigins: z.array(z.string().min(1)).optional().describe('Origins of web pages that may send requests.'),
    maxBodyBytes: z
      .int()
      .min(1_024)
      .max(1_073_741_824)
      .optional()
      .describe('Largest request body accepted, in bytes. Default 4194304.'),
    clientSessionIdle_s: seconds
      .optional()
      .describe('Seconds without a request after which a client session ends. Default 1800.'),
    maxClientSessions: z
      .int()
      .min(1)
      .max(10_000_000)
      .optional()
      .describe('Client sessions at once, over /mcp and over /sse each. Default 10000.'),
  })
  .describe('The HTTP endpoint.');

export const durationPattern: RegExp = /^(\d{1,4})([smhd])$/;

const duration = z.string().regex(durationPattern, 'must be a whole number and a unit: 30s, 5m, 1h or 1d');

export const approvalsSchema = z
  .strictObject({
    wait: duration
      .optional()
      .describe(
        'How long a call waits for a decision before it is answered as pending. Default as long as its client waits.',
      ),
    expires: duration
      .optional()
      .describe('How long a question stays open, and how long an approved call may take to come. Default 1h.'),
    four_eyes: z.boolean().optional().describe('The person behind a call may not approve it. Default false.'),
    require: z.enum(['any', 'page']).optional().describe('page: decisions only over a one-time link. Default any.'),
  })
  .describe('How calls that require approval are approved.');

export const allowPathsSchema = z
  .array(z.string().min(1))
  .describe(
    'Folders that servers may be given although the state of the hub or your keys lie in them, such as ~ or /. Default none.',
  );

export const namingSchema = z
  .enum(['prefixed', 'preserved'])
  .describe(
    'Names agents see: prefixed is {server}_{tool}, preserved keeps the names of the servers. Default prefixed.',
  );

export const lockModeSchema = z
  .enum(['enforce', 'warn'])
  .describe(
    'With enforce, agents get only the definitions in quartermaster.lock; with warn they get all, and differences are shown. Default enforce if the file exists.',
  );

const versionSchema = z.literal(1).describe('Version of this format.');

const name = z.string().regex(namePattern);

export const environmentSchema = z
  .string()
  .min(1)
  .max(64)
  .describe(
    'Environment of mcp_permissions.yaml that applies. Default: the variable MAGSAG_ENVIRONMENT, else the strictest.',
  );

export const fileSchema = z
  .strictObject({
    version: versionSchema.optional(),
    naming: namingSchema.optional(),
    servers: z.record(name, serverSchema).optional().describe('Upstream MCP servers by name.'),
    agents: z
      .record(name, agentSchema)
      .optional()
      .describe('Agents by name. If any agent is routed, an agent without a route gets only shared servers.'),
    policies: policiesSchema.optional(),
    environment: environmentSchema.optional(),
    ledger: ledgerSchema.optional(),
    serve: serveSchema.optional(),
    approvals: approvalsSchema.optional(),
    allowPaths: allowPathsSchema.optional(),
    lock: lockModeSchema.optional(),
  })
  .describe('Configuration of Quartermaster.');

/** JSON Schema of quartermaster.yaml, in the draft that editors support best. */
export function configurationSchema(): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(fileSchema, { target: 'draft-7', io: 'input' });
  return { $schema, title: 'quartermaster.yaml', ...rest };
}
