import { isJsonObject } from '../../base/index.ts';
import { type TransportKind, transportKinds } from '../../domain/index.ts';

/** One call as readers see it: a line of `.runs/agents/<RUN_ID>/mcp_calls.jsonl`, with its members in this order. */
export interface CallLine {
  /** Time of the call, ISO 8601 in UTC. */
  readonly ts: string;
  /** Null when no server has a tool of that name. */
  readonly server: string | null;
  /** The server's own name for it; `resource:<uri>` and `prompt:<name>` for other methods than `tools/call`. */
  readonly tool: string;
  /** The method sent to the server; absent for `tools/call`. */
  readonly method?: string;
  /** Redacted. If they were cut, the beginning of their JSON text. */
  readonly args: unknown;
  /** If the arguments were cut: the length of their JSON text in characters, and its SHA-256. */
  readonly args_length?: number;
  readonly args_sha256?: string;
  /** `open` only for a call in flight, never in a run file. */
  readonly status: 'ok' | 'error' | 'open';
  readonly outcome: string;
  /** Null when unknown. */
  readonly duration_ms: number | null;
  /** Never null when the status is `error`. */
  readonly error: string | null;
  /** If the error was cut. */
  readonly error_length?: number;
  readonly error_sha256?: string;
  readonly agent: string;
  /** The agent and those that delegated to it, nearest first; absent without delegation. */
  readonly chain?: readonly string[];
  /** Unique across hubs and restarts, and the same in every sink. */
  readonly call_id: string;
  readonly run_id: string;
  /** Null when the call was never sent. */
  readonly transport: TransportKind | null;
  readonly protocol_version: string | null;
  readonly session_id: string | null;
  /** Answered from the cache, without the server; absent otherwise. */
  readonly cached?: true;
  readonly http_status: number | null;
  readonly retries: number | null;
  readonly decision: string | null;
  /** The rule or setting that decided, and its `file:line`. Null where no rule matched; absent in older lines. */
  readonly rule?: string | null;
  readonly rule_source?: string | null;
  /** The approval or grant that a person gave for it, and the number that only this use has; absent without one. */
  readonly approval?: string;
  readonly approval_nonce?: string;
  /** What the shadow policy would have decided, by which rule; absent without a shadow policy. */
  readonly shadow?: string;
  readonly shadow_rule?: string | null;
  readonly shadow_rule_source?: string | null;
  /** The labels of the run before the call; null if they could not be read, absent if it had none. */
  readonly labels?: readonly string[] | null;
}

/**
 * Undefined if the text is not a call line: other programs may write into run folders too. Checked by hand, because
 * commands read the ledger without loading a schema library, and a summary reads a hundred thousand lines.
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
  // Gives access to members that may be missing; each is checked below.
  const line = value as Readonly<Record<string, unknown>>;
  return (
    texts.every((name) => typeof line[name] === 'string') &&
    textsOrNull.every((name) => line[name] === null || typeof line[name] === 'string') &&
    numbersOrNull.every((name) => line[name] === null || typeof line[name] === 'number') &&
    (line.status === 'ok' || line.status === 'error' || line.status === 'open') &&
    (line.transport === null || transports.has(line.transport)) &&
    cutMembers.every((name) => line[`${name}_length`] === undefined || typeof line[`${name}_length`] === 'number') &&
    cutMembers.every((name) => line[`${name}_sha256`] === undefined || typeof line[`${name}_sha256`] === 'string') &&
    rules.every((name) => line[name] === undefined || line[name] === null || typeof line[name] === 'string') &&
    optionalTexts.every((name) => line[name] === undefined || typeof line[name] === 'string') &&
    (line.cached === undefined || line.cached === true) &&
    (line.chain === undefined || isTexts(line.chain)) &&
    (line.labels === undefined || line.labels === null || isTexts(line.labels))
  );
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

const rules = ['rule', 'rule_source', 'shadow_rule', 'shadow_rule_source'] as const satisfies (keyof CallLine)[];
const optionalTexts = ['method', 'shadow', 'approval', 'approval_nonce'] as const satisfies (keyof CallLine)[];
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
