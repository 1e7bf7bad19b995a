import { isJsonObject } from '../base/index.ts';
import { type TransportKind, transportKinds } from '../domain/index.ts';

/** One call as readers see it: a line of `.runs/agents/<RUN_ID>/mcp_calls.jsonl`, its members in this order. */
export interface CallLine {
  /** When the call came in, ISO 8601 in UTC. */
  readonly ts: string;
  /** Null when no server has a tool of that name. */
  readonly server: string | null;
  /** By the server's own name; `resource:<uri>` and `prompt:<name>` for what is no tool. */
  readonly tool: string;
  /** What the server was asked; absent when it was `tools/call`. */
  readonly method?: string;
  /** With secrets taken out; the beginning of their JSON text where they were cut. */
  readonly args: unknown;
  /** Of arguments that were cut: the length of their JSON text in characters, and its SHA-256. */
  readonly args_length?: number;
  readonly args_sha256?: string;
  /** `open` only for a call that is still under way, never in a run file. */
  readonly status: 'ok' | 'error' | 'open';
  readonly outcome: string;
  /** Null when nobody knows. */
  readonly duration_ms: number | null;
  /** Always there when the status is error. */
  readonly error: string | null;
  /** Of an error that was cut. */
  readonly error_length?: number;
  readonly error_sha256?: string;
  readonly agent: string;
  /** The agent and those that delegated to it, nearest first; absent when nobody did. */
  readonly chain?: readonly string[];
  /** Unique across hubs and restarts; the same in every sink. */
  readonly call_id: string;
  readonly run_id: string;
  /** Null when it was never sent. */
  readonly transport: TransportKind | null;
  readonly protocol_version: string | null;
  readonly session_id: string | null;
  /** The answer was kept from an earlier call, and no server was asked; absent otherwise. */
  readonly cached?: true;
  readonly http_status: number | null;
  readonly retries: number | null;
  readonly decision: string | null;
}

/**
 * Undefined for what is not a call line: other programs may write into run folders too. Checked by hand: commands read
 * the ledger without loading a schema library, and a summary reads a hundred thousand lines.
 */
export function parseCallLine(text: string): CallLine | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isJsonObject(value) && isCallLine(value) ? value : undefined;
}

function isCallLine(value: object): value is CallLine {
  // Only to read members that may be missing; each is looked at.
  const line = value as Readonly<Record<string, unknown>>;
  return (
    texts.every((name) => typeof line[name] === 'string') &&
    textsOrNull.every((name) => line[name] === null || typeof line[name] === 'string') &&
    numbersOrNull.every((name) => line[name] === null || typeof line[name] === 'number') &&
    (line.status === 'ok' || line.status === 'error' || line.status === 'open') &&
    (line.transport === null || transports.has(line.transport)) &&
    cutMembers.every((name) => line[`${name}_length`] === undefined || typeof line[`${name}_length`] === 'number') &&
    cutMembers.every((name) => line[`${name}_sha256`] === undefined || typeof line[`${name}_sha256`] === 'string') &&
    (line.method === undefined || typeof line.method === 'string') &&
    (line.cached === undefined || line.cached === true) &&
    (line.chain === undefined || (Array.isArray(line.chain) && line.chain.every((name) => typeof name === 'string')))
  );
}

const cutMembers = ['args', 'error'] as const;
const texts = ['ts', 'tool', 'outcome', 'agent', 'call_id', 'run_id'] as const satisfies (keyof CallLine)[];
const textsOrNull = [
  'server',
  'error',
  'protocol_version',
  'session_id',
  'decision',
] as const satisfies (keyof CallLine)[];
const numbersOrNull = ['duration_ms', 'http_status', 'retries'] as const satisfies (keyof CallLine)[];
const transports: ReadonlySet<unknown> = new Set(transportKinds);
