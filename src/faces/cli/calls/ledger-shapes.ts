import { z } from 'zod';
import { transportKinds } from '../../../domain/index.ts';

/** `qm calls --json` prints one such object per line: a line of `.runs/agents/<RUN_ID>/mcp_calls.jsonl`. */
export const callLineSchema = z.strictObject({
  ts: z.string().describe('Time of the call, ISO 8601 in UTC.'),
  server: z.string().nullable().describe('The upstream server; null when no server has a tool of that name.'),
  tool: z.string().describe("The server's own name of the tool; resource:URI or prompt:NAME for other requests."),
  method: z.string().exactOptional().describe('The MCP method; absent for tools/call.'),
  args: z.unknown().describe('The arguments with secrets redacted; if they were cut, a string with their beginning.'),
  args_length: z.int().exactOptional().describe('If the arguments were cut, the length of their text in characters.'),
  args_sha256: z.string().exactOptional().describe('If the arguments were cut, the SHA-256 of their text.'),
  status: z
    .enum(['ok', 'error', 'open'])
    .describe('Whether the call succeeded; `open` for a call in flight, never in a run file.'),
  outcome: z
    .string()
    .describe(
      'The detailed outcome: ok, tool_error, denied, rate_limited, timeout, interrupted, void …; open or held for a call in flight.',
    ),
  duration_ms: z.number().nullable().describe('Duration in milliseconds; null if unknown.'),
  error: z.string().nullable().describe('The error message; always set if the status is error.'),
  error_length: z.int().exactOptional().describe('If the error was cut, its length in characters.'),
  error_sha256: z.string().exactOptional().describe('If the error was cut, its SHA-256.'),
  agent: z.string().describe('The agent that made the call.'),
  chain: z
    .array(z.string())
    .exactOptional()
    .describe('The agent and the agents that delegated to it, nearest first; absent without delegation.'),
  call_id: z.string().describe('Unique across hubs and restarts; the same in every sink.'),
  run_id: z.string().describe('The run that the call belongs to.'),
  transport: z.enum(transportKinds).nullable().describe('The upstream transport; null if the call was not sent.'),
  protocol_version: z.string().nullable().describe('The MCP protocol version used with the server.'),
  session_id: z.string().nullable().describe("The server's session, where it has one."),
  cached: z.literal(true).exactOptional().describe('The result came from the cache.'),
  http_status: z.number().nullable().describe('The HTTP status of the response.'),
  retries: z.number().nullable().describe('The number of retries.'),
  decision: z.string().nullable().describe('The policy decision.'),
  rule: z.string().nullable().exactOptional().describe('The rule or setting that decided; null where no rule matched.'),
  rule_source: z.string().nullable().exactOptional().describe('The location of that rule, as file:line.'),
  shadow: z.string().exactOptional().describe('The decision of the shadow policy; absent without one.'),
  shadow_rule: z.string().nullable().exactOptional().describe('The rule or setting by which it would have decided.'),
  shadow_rule_source: z.string().nullable().exactOptional().describe('The location of that rule, as file:line.'),
  labels: z
    .array(z.string())
    .nullable()
    .exactOptional()
    .describe('The labels of the run before the call; null if they could not be read, absent if it had none.'),
});

const count = z.int().nonnegative();
const counts = z.record(z.string(), count);

/** `qm summarize` */
export const summarySchema = z.strictObject({
  mcp_stats: z.strictObject({
    total_calls: count,
    total_errors: count,
    calls_by_server: counts,
    error_rate: z.number().min(0).max(1).describe('To three decimals; 0 without calls.'),
    errors_by_server: counts,
    cached_calls: count.describe('Calls answered from the cache.'),
    cached_by_server: counts,
    calls_without_server: count.describe('Calls to names that no server has.'),
    calls_by_agent: counts,
    outcomes: counts,
    latency_by_tool: z
      .record(
        z.string(),
        z.strictObject({
          count,
          mean: z.number(),
          p50: z.number(),
          p95: z.number(),
          p99: z.number(),
          max: z.number(),
        }),
      )
      .describe(
        'By server.tool, or server.resources/read and the like, in milliseconds; only calls that reached the server.',
      ),
    rate_limit_hits: count.describe('Refused by a limit here, or throttled by the server.'),
    rate_limit_hits_by_server: counts,
    suspicious_calls: count.describe('The number of calls with suspicious paths; the list has the first hundred.'),
    suspicious_paths: z.array(
      z.strictObject({
        call_id: z.string(),
        run_id: z.string(),
        agent: z.string(),
        tool: z.string(),
        at: z.string().describe('The location of the value in the record, as a jq path.'),
        value: z.string(),
        why: z.enum(['parent', 'home', 'absolute']),
      }),
    ),
    privileged_operations: counts.describe(
      'Attempts by server.tool, for tools with write, delete, execute … in their name.',
    ),
    first_ts: z.string().nullable(),
    last_ts: z.string().nullable(),
    runs: count,
    probes: count.describe('Of qm doctor and qm inspect; they are not agent calls and count nowhere else.'),
    unreadable_lines: count.describe('Incomplete lines and lines in another format.'),
    unreadable_files: z.array(z.string()),
  }),
});

const file = z.string().describe('The journal file');
const seq = z.int().nonnegative().describe('The number of a write in the chain');
const hash = z.string().regex(/^[0-9a-f]{64}$/);

const findingSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('changed'), file, seq }),
  z.strictObject({ kind: z.literal('other-end'), file, seq, foundSeq: seq }).describe('Cut, or something was added'),
  z.strictObject({ kind: z.literal('missing'), file, seq }),
  z.strictObject({ kind: z.literal('head-missing'), seq, hash }),
  z.strictObject({
    kind: z.literal('run-file'),
    run: z.string(),
    lacks: count.describe('Calls of the journal that the run file does not have'),
    adds: count.describe('Calls that the journal does not have'),
  }),
  z.strictObject({ kind: z.literal('expired'), file, seq, why: z.string() }).describe('Not a problem'),
  z.strictObject({ kind: z.literal('head-expired'), seq, hash }).describe('Not a problem'),
  z
    .strictObject({ kind: z.literal('sealed'), file, seq, at: z.string(), lines: count, cut: count })
    .describe('Not a problem: the hub died, and the next one kept `lines` records and cut `cut` bytes'),
  z.strictObject({ kind: z.literal('unfinished'), file, seq }).describe('Not a problem'),
  z.strictObject({ kind: z.literal('unchained'), file }).describe('Not a problem'),
]);

/** `qm ledger verify` */
export const ledgerVerifySchema = z.strictObject({
  ok: z.boolean(),
  segments: count.describe('The number of journal files'),
  writes: count,
  records: count,
  findings: z.array(findingSchema).readonly().describe('At most a thousand, problems first'),
  problems: count,
});
export type VerifyAnswer = z.infer<typeof ledgerVerifySchema>;

/** `qm ledger head` */
export const ledgerHeadSchema = z
  .strictObject({ seq, hash, time: z.iso.datetime().describe('When it was read') })
  .nullable()
  .describe('null: nothing is recorded yet');
export type HeadAnswer = z.infer<typeof ledgerHeadSchema>;

/** `qm ledger events` prints one such object per line. */
export const ledgerEventSchema = z.strictObject({
  ts: z.iso.datetime(),
  who: z.string().describe('operator, hub, or the name of a person'),
  how: z.string().describe('terminal, command, api or hub'),
  what: z.string().describe('token.issued, trust.approved, secret.set, server.added, retention.pruned …'),
  subject: z.string(),
  detail: z.string().exactOptional(),
  failed: z.literal(true).exactOptional().describe('An earlier record announced it, and then it did not happen'),
});
export type LedgerEvent = z.infer<typeof ledgerEventSchema>;

/** `qm ledger export --to …` */
export const ledgerExportSchema = z.strictObject({ lines: count.describe('The number of exported lines') });
export type ExportAnswer = z.infer<typeof ledgerExportSchema>;
