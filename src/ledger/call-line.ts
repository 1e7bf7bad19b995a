import { z } from 'zod';

/** One call as readers see it: a line of `.runs/agents/<RUN_ID>/mcp_calls.jsonl`. */
export const callLineSchema = z.object({
  ts: z.string().describe('When the call came in, ISO 8601 in UTC.'),
  server: z.string().nullable().describe('The upstream server; null when no server has a tool of that name.'),
  tool: z.string().describe("The tool by the server's own name."),
  args: z.unknown().describe('The arguments, with secrets taken out.'),
  status: z
    .enum(['ok', 'error', 'open'])
    .describe('Whether it went well; `open` only for a call that is still under way, never in a run file.'),
  outcome: z.string().describe('The finer word: ok, tool_error, denied, rate_limited, timeout, interrupted, open …'),
  duration_ms: z.number().nullable().describe('How long it took, in milliseconds; null when nobody knows.'),
  error: z.string().nullable().describe('What went wrong; always there when the status is error.'),
  agent: z.string().describe('Who called.'),
  chain: z
    .array(z.string())
    .optional()
    .describe('The agent and those that delegated to it, nearest first; absent when nobody did.'),
  call_id: z.string().describe('Unique across hubs and restarts; the same in every sink.'),
  run_id: z.string().describe('The run it belongs to.'),
  transport: z.enum(['stdio', 'http']).nullable().describe('How it went upstream; null when it was never sent.'),
  protocol_version: z.string().nullable().describe('The MCP revision spoken with the server.'),
  session_id: z.string().nullable().describe("The server's session, where it has one."),
  http_status: z.number().nullable().describe('The HTTP status of the answer, over HTTP.'),
  retries: z.number().nullable().describe('How often it was sent again.'),
  decision: z.string().nullable().describe('What the policy said.'),
});

export type CallLine = z.infer<typeof callLineSchema>;

/** Undefined for what is not a call line: other tools may write into run folders too. */
export function parseCallLine(text: string): CallLine | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const result = callLineSchema.safeParse(value);
  return result.success ? result.data : undefined;
}
