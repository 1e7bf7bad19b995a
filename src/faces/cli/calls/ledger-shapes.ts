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
  labels: z.array(z.string()).exactOptional().describe('The labels of the run at that time; absent if it had none.'),
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
