import { z } from 'zod';
import { transportKinds } from '../../domain/index.ts';

/** `qm calls --json` prints one such object per line: a line of `.runs/agents/<RUN_ID>/mcp_calls.jsonl`. */
export const callLineSchema = z.strictObject({
  ts: z.string().describe('When the call came in, ISO 8601 in UTC.'),
  server: z.string().nullable().describe('The upstream server; null when no server has a tool of that name.'),
  tool: z.string().describe("The tool by the server's own name; resource:URI and prompt:NAME for what is no tool."),
  method: z.string().exactOptional().describe('What the server was asked; absent when it was tools/call.'),
  args: z.unknown().describe('The arguments, with secrets taken out; the beginning of their text where they were cut.'),
  args_length: z.int().exactOptional().describe('Of arguments that were cut: the length of their text in characters.'),
  args_sha256: z.string().exactOptional().describe('Of arguments that were cut: the SHA-256 of their text.'),
  status: z
    .enum(['ok', 'error', 'open'])
    .describe('Whether it went well; `open` only for a call that is still under way, never in a run file.'),
  outcome: z.string().describe('The finer word: ok, tool_error, denied, rate_limited, timeout, interrupted, open …'),
  duration_ms: z.number().nullable().describe('How long it took, in milliseconds; null when nobody knows.'),
  error: z.string().nullable().describe('What went wrong; always there when the status is error.'),
  error_length: z.int().exactOptional().describe('Of an error that was cut: its length in characters.'),
  error_sha256: z.string().exactOptional().describe('Of an error that was cut: its SHA-256.'),
  agent: z.string().describe('Who called.'),
  chain: z
    .array(z.string())
    .exactOptional()
    .describe('The agent and those that delegated to it, nearest first; absent when nobody did.'),
  call_id: z.string().describe('Unique across hubs and restarts; the same in every sink.'),
  run_id: z.string().describe('The run it belongs to.'),
  transport: z.enum(transportKinds).nullable().describe('How it went upstream; null when it was never sent.'),
  protocol_version: z.string().nullable().describe('The MCP revision spoken with the server.'),
  session_id: z.string().nullable().describe("The server's session, where it has one."),
  cached: z.literal(true).exactOptional().describe('No server was asked: the answer was kept from an earlier call.'),
  http_status: z.number().nullable().describe('The HTTP status of the answer, over HTTP.'),
  retries: z.number().nullable().describe('How often it was sent again.'),
  decision: z.string().nullable().describe('What the policy said.'),
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
    cached_calls: count.describe('Answered by what was kept of earlier calls.'),
    cached_by_server: counts,
    calls_without_server: count.describe('Calls of names that no server has.'),
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
    suspicious_calls: count.describe('How many calls have such a value; the list holds the first hundred.'),
    suspicious_paths: z.array(
      z.strictObject({
        call_id: z.string(),
        run_id: z.string(),
        agent: z.string(),
        tool: z.string(),
        at: z.string().describe('Where the value is in the line, as jq writes it.'),
        value: z.string(),
        why: z.enum(['parent', 'home', 'absolute']),
      }),
    ),
    privileged_operations: counts.describe(
      'Attempts by server.tool, of tools whose name says write, delete, execute …',
    ),
    first_ts: z.string().nullable(),
    last_ts: z.string().nullable(),
    runs: count,
    unreadable_lines: count.describe('Torn lines, and lines that are none of ours.'),
    unreadable_files: z.array(z.string()),
  }),
});
