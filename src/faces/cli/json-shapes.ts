import { z } from 'zod';
import { issuedTokenSchema, problemSchema, serversSchema, tokenSummarySchema } from '../api/index.ts';

/** The `--json` output of each command. `qm call --json` prints the tool's result exactly as the server sent it. */

/** `qm serve`: the first line of stdout. */
export const serveLineSchema = z.strictObject({
  url: z.url(),
  workspace: z.string(),
  database: z.null().describe('Always null: state is in files'),
  adminTokenFile: z.string(),
});

/** `qm token issue` */
export const tokenIssueSchema = issuedTokenSchema.strict();

/** `qm token ls` */
export const tokenLsSchema = z.array(tokenSummarySchema.strict());

/** `qm token revoke` */
export const tokenRevokeSchema = z.strictObject({ id: z.string(), revoked: z.literal(true) });

/** `qm ls` */
export const lsSchema = z.strictObject({
  hub: z.string().nullable().describe('Address of the running hub; null when the states are from the configuration'),
  servers: serversSchema.shape.servers,
  problems: z.array(problemSchema.strict()),
});

/** `qm tools` */
export const toolsSchema = z.array(
  z.strictObject({
    name: z.string().describe('The name that the agent sees'),
    server: z.string(),
    tool: z.string().describe("The server's own name"),
    decision: z.enum(['allow', 'ask']),
  }),
);

/** `qm stop` */
export const stopSchema = z.strictObject({
  stopped: z.number().nullable().describe('The process of the hub that was stopped; null if none ran'),
});

/** `qm tools --all` */
export const allToolsSchema = z.array(
  z.strictObject({
    name: z.string().nullable().describe('null: the agent does not see the tool'),
    server: z.string(),
    tool: z.string(),
    decision: z.enum(['allow', 'ask', 'deny']),
    reason: z.string(),
  }),
);

/** `qm explain` */
export const explainSchema = z.strictObject({
  agent: z.string(),
  role: z.string().nullable().describe('The entry that the agent names as its role; null without one'),
  server: z.string(),
  tool: z.string(),
  decision: z.enum(['allow', 'ask', 'deny']),
  reason: z.enum([
    'default',
    'too-long',
    'unsafe-uri',
    'protected-path',
    'definition-changed',
    'unclear-path',
    'not-routed',
    'not-included',
    'excluded',
    'no-scope',
    'read-only',
    'write-approval',
    'rule',
    'invalid',
    'untrusted',
    'disabled',
  ]),
  source: z
    .strictObject({ file: z.string(), line: z.number().exactOptional() })
    .nullable()
    .describe('Where the deciding rule or list is written'),
  pattern: z.string().nullable().describe('The key of the deciding rule'),
  because: z
    .enum(['known-server', 'annotation', 'no-word', 'untrusted-annotation'])
    .nullable()
    .describe('For read-only and write-approval: why the tool counts as writing'),
  text: z.string().describe('The whole answer as a sentence'),
  fix: z.string().nullable().describe('For read-only and write-approval: how to change the result'),
  known: z
    .boolean()
    .nullable()
    .describe('Whether the server has the tool or prompt; null if it has not listed any, and for resources'),
  shadow: z
    .strictObject({ decision: z.enum(['allow', 'ask', 'deny']), text: z.string() })
    .nullable()
    .describe('The decision of the shadow policy; null without one'),
});

export { auditToolsSchema } from './audit/audit-shapes.ts';
/** `qm calls`, one such object per line, and `qm summarize` */
export { callLineSchema, summarySchema } from './calls/ledger-shapes.ts';
export { clientListSchema, connectPrintSchema, connectSchema, disconnectSchema } from './connect/connect-shapes.ts';
export { doctorSchema, inspectSchema } from './doctor/diagnosis-shapes.ts';
export { lockSchema } from './lock/lock-shapes.ts';
export { policyTestSchema } from './policy/policy-shapes.ts';
export { trustSchema } from './trust/trust-shapes.ts';

/** For commands that change the configuration: whether the running hub applied it; null if none runs. */
const takeUpSchema = z
  .strictObject({ url: z.string(), applied: z.boolean().describe('Within five seconds') })
  .nullable();

/** `qm add` */
export const addSchema = z.strictObject({
  server: z.string(),
  source: z.string().describe('File and line'),
  state: z.enum(['idle', 'invalid']).describe('invalid: a variable is missing; see problems'),
  agents: z.array(z.string()).nullable().describe('Named agents that have it; null: no agent is routed, all have it'),
  tools: z.number().nullable().describe('The number of tools; null: the server was not started or did not answer'),
  problems: z.array(problemSchema.strict()),
  hub: takeUpSchema,
});

/** `qm new-server` */
export const newServerSchema = z.strictObject({
  server: z.string(),
  source: z.string().describe('File and line'),
  folder: z.string().describe('In the workspace'),
  files: z.array(z.string()),
  agents: addSchema.shape.agents,
  hub: takeUpSchema,
});

/** `qm enable`, `qm disable` */
export const switchSchema = z.strictObject({
  server: z.string(),
  enabled: z.boolean(),
  changed: z.boolean().describe('false: nothing had to change'),
  source: z.string().describe('File and line'),
  problems: z.array(problemSchema.strict()),
  hub: takeUpSchema,
});

/** `qm logs`, one such object per line */
export const logLineSchema = z.strictObject({
  time: z.string().describe('ISO 8601 in UTC'),
  server: z.string(),
  pid: z.number().describe('The process that wrote it'),
  line: z.string().describe('Without secrets; a long line is cut'),
});

/** `qm init` */
export const initSchema = z.strictObject({
  file: z.string(),
  written: z.boolean().describe('false: the hub has files to read already, so nothing was written'),
  read: z
    .array(z.strictObject({ file: z.string(), servers: z.array(z.string()) }))
    .describe('The files that the hub reads, with the servers that count from each'),
});

/** `qm remove` */
export const removeSchema = z.strictObject({
  server: z.string(),
  source: z.string().describe('File and line where it was'),
  deleted: z.array(z.string()).describe('Files of this server alone, which are gone'),
  dangling: z.array(problemSchema.strict()).describe('Lists and rules that name the server and now name nothing'),
  successor: z.string().nullable().describe('The entry of a weaker file that counts from now on; null without one'),
  hub: takeUpSchema,
});

const presetVariableSchema = z.strictObject({ name: z.string(), required: z.boolean(), purpose: z.string() });

/** `qm bootstrap` */
export const bootstrapSchema = z.strictObject({
  written: z.boolean().describe('false: a file differs or is a link, so nothing was written'),
  files: z.array(
    z.strictObject({
      preset: z.string(),
      file: z.string(),
      state: z.enum(['written', 'replaced', 'unchanged', 'differs', 'link', 'not-written']),
    }),
  ),
  variables: z.array(presetVariableSchema),
  routes: z.string().describe('The suggested routes, as YAML for quartermaster.yaml'),
});

/** `qm bootstrap --roles` */
export const rolesSchema = z.strictObject({
  file: z.string(),
  written: z.array(z.string()).describe('Roles that were added'),
  kept: z.array(z.string()).describe('Entries of that name that were there and stay as they are'),
  missingServers: z.array(z.string()).describe('Servers that roles name and the workspace does not have'),
});

/** `qm bootstrap --list` */
export const presetListSchema = z.array(
  z.strictObject({
    id: z.string(),
    kind: z.enum(['preset', 'pattern']),
    title: z.string(),
    description: z.string(),
    category: z.string(),
    login: z.strictObject({
      kind: z.enum(['none', 'key', 'token', 'browser']),
      variable: z.string().nullable().describe('The variable for the key or token'),
    }),
    program: z.string().nullable().describe('The program that must be installed'),
    variables: z.array(presetVariableSchema),
  }),
);

/** `qm sync` */
export const syncSchema = z.strictObject({
  inStep: z.boolean().describe('false only with --check'),
  files: z.array(
    z.strictObject({
      file: z.string(),
      source: z.string().nullable().describe('null: it no longer exists'),
      state: z
        .enum(['written', 'updated', 'removed', 'unchanged', 'missing', 'stale', 'orphan'])
        .describe('missing and stale only with --check'),
    }),
  ),
  skipped: z.array(z.strictObject({ file: z.string(), type: z.string() })).describe('Sources of another type than mcp'),
});

/** On stderr, when a command fails. */
export const errorSchema = z.strictObject({
  error: z.strictObject({ code: z.string(), message: z.string(), hint: z.string().exactOptional() }),
});

export type ServeLine = z.infer<typeof serveLineSchema>;
export type TokenRevoked = z.infer<typeof tokenRevokeSchema>;
export type LsAnswer = z.infer<typeof lsSchema>;
export type StopAnswer = z.infer<typeof stopSchema>;
export type ToolRow = z.infer<typeof toolsSchema>[number];
export type AnyToolRow = z.infer<typeof allToolsSchema>[number];
export type Explanation = z.infer<typeof explainSchema>;
export type AddAnswer = z.infer<typeof addSchema>;
export type NewServerAnswer = z.infer<typeof newServerSchema>;
export type LogLine = z.infer<typeof logLineSchema>;
export type InitAnswer = z.infer<typeof initSchema>;
export type RemoveAnswer = z.infer<typeof removeSchema>;
export type SwitchAnswer = z.infer<typeof switchSchema>;
export type BootstrapAnswer = z.infer<typeof bootstrapSchema>;
export type RolesAnswer = z.infer<typeof rolesSchema>;
export type PresetRow = z.infer<typeof presetListSchema>[number];
export type SyncAnswer = z.infer<typeof syncSchema>;
