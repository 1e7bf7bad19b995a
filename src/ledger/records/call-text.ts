import type { Outcome, TransportKind } from '../../domain/index.ts';

/**
 * The text of journal records and run lines, built from parts that are serialized once. All of this runs several times
 * per call, so it serializes no objects and parses nothing.
 */
export interface SubjectFacts extends DecisionFacts {
  readonly agent: string;
  /** The agent and those that delegated to it, nearest first. */
  readonly chain: readonly string[];
  /** Null when no server has the called name. */
  readonly server: string | null;
  readonly tool: string;
  /** Set if it is not `tools/call`. */
  readonly method?: string;
  /** The name is the caller's own text although it belongs to a server. */
  readonly asSaid?: boolean;
}

/** Caller and target as JSON members without braces; built once per entry of a view. */
export interface LedgerSubject {
  readonly text: string;
  /** The first member of `what`. It comes from the configuration. */
  readonly server: string;
  readonly what: string;
  readonly who: string;
  /** The agent that delegated first. What all agents of the chain record counts as its own. */
  readonly origin: string;
  readonly decision: string;
  /** False when the name is the caller's own text and may contain anything. */
  readonly known: boolean;
  /** The same without secrets, made by the ledger on first use. */
  redacted: LedgerSubject | undefined;
  /** The last frame built for it. */
  frame: Frame | undefined;
}

export function ledgerSubject(facts: SubjectFacts): LedgerSubject {
  const { method } = facts;
  const asked = method === undefined || method === 'tools/call' ? '' : `,"method":${JSON.stringify(method)}`;
  const server = `"server":${JSON.stringify(facts.server)}`;
  const what = `${server},"tool":${JSON.stringify(facts.tool)}${asked}`;
  const chain = facts.chain.length > 1 ? `,"chain":${JSON.stringify(facts.chain)}` : '';
  const who = `"agent":${JSON.stringify(facts.agent)}${chain}`;
  const origin = facts.chain.at(-1) ?? facts.agent;
  return subjectText({ server, what, who, origin, known: facts.server !== null && facts.asSaid !== true }, facts);
}

/** The same subject with the decision on one call, where that differs from call to call. */
export function decidedSubject(subject: LedgerSubject, facts: DecisionFacts): LedgerSubject {
  return subjectText(subject, facts);
}

export interface DecidedBy {
  readonly decision: string;
  /** The rule or setting that decided, and where it is written. Null, or left out, where no rule matched. */
  readonly rule?: string | null;
  readonly ruleSource?: string | null;
}

export interface DecisionFacts extends DecidedBy {
  /** What the shadow policy would have decided. Undefined if there was none. */
  readonly shadow?: DecidedBy | undefined;
  /** The labels of the run when the call was decided. Null: not known. Undefined: none. */
  readonly labels?: readonly string[] | null | undefined;
  /** The approval or grant that the call used, and the number that only this use has. */
  readonly approval?: { readonly id: string; readonly nonce: string } | undefined;
}

function subjectText(
  { server, what, who, origin, known }: Pick<LedgerSubject, 'server' | 'what' | 'who' | 'origin' | 'known'>,
  facts: DecisionFacts,
): LedgerSubject {
  const { shadow, labels, approval } = facts;
  const tried =
    shadow === undefined ? '' : `,"shadow":${JSON.stringify(shadow.decision)},${ruleMembers('shadow_', shadow)}`;
  const used =
    approval === undefined
      ? ''
      : `,"approval":${JSON.stringify(approval.id)},"approval_nonce":${JSON.stringify(approval.nonce)}`;
  const labelled = labels === undefined ? '' : `,"labels":${JSON.stringify(labels)}`;
  const decision = `"decision":${JSON.stringify(facts.decision)},${ruleMembers('', facts)}${tried}${labelled}${used}`;
  const text = `${what},${who},${decision}`;
  return { text, server, what, who, origin, decision, known, redacted: undefined, frame: undefined };
}

function ruleMembers(prefix: string, { rule = null, ruleSource = null }: DecidedBy): string {
  return `"${prefix}rule":${JSON.stringify(rule)},"${prefix}rule_source":${JSON.stringify(ruleSource)}`;
}

export interface ConnectionRecord {
  readonly transport: TransportKind;
  /** Null if none was agreed on, for example because the server rejected the handshake. */
  readonly protocolVersion: string | null;
  readonly sessionId: string | null;
}

/** The connection of the call, as JSON members without braces; built once per connection. */
export interface LedgerConnection {
  readonly text: string;
}

export function ledgerConnection(facts: ConnectionRecord): LedgerConnection {
  const { transport, protocolVersion, sessionId } = facts;
  return {
    text: `"transport":"${transport}","protocol_version":${JSON.stringify(protocolVersion)},"session_id":${JSON.stringify(sessionId)}`,
  };
}

/** For a call that no connection carried. */
export const noConnection: LedgerConnection = {
  text: '"transport":null,"protocol_version":null,"session_id":null',
};

/** For a call answered from the cache. */
export const cachedAnswer: LedgerConnection = { text: `${noConnection.text},"cached":true` };

/** The parts of a call that every text about it contains. */
export interface CallParts {
  readonly id: string;
  /** Start of the call, ISO 8601. */
  readonly ts: string;
  readonly run: string;
  readonly subject: LedgerSubject;
  /** Redacted, on one line. If it was cut, followed by the length and hash members. */
  readonly args: string;
}

/** How a call ended, each member as JSON text. */
export interface EndParts {
  readonly outcome: Outcome;
  readonly ms: string;
  /** If it was cut, followed by the length and hash members. */
  readonly error: string;
  readonly http: string;
  readonly retries: string;
}

/** The constant pieces of a `done` record. */
type DonePieces = readonly [string, string, string, string, string];

/** The constant pieces around the values that differ per call. Most calls of a subject share them. */
interface Frame {
  readonly connection: LedgerConnection;
  readonly run: string;
  readonly sent: readonly [string, string, string, string];
  /** For a call that succeeded without anything to add. */
  readonly line: readonly [string, string, string, string, string, string];
}

export function sentRecord(call: CallParts, connection: LedgerConnection): string {
  const [head, beforeId, beforeArgs, tail] = frameOf(call, connection).sent;
  return head + call.ts + beforeId + call.id + beforeArgs + call.args + tail;
}

export function heldRecord(call: CallParts): string {
  return `{"k":"held","ts":"${call.ts}","id":"${call.id}","run":"${call.run}",${call.subject.text},"args":${call.args}}\n`;
}

export function doneRecord(call: CallParts, end: EndParts, ts: string): string {
  if (!isPlain(end)) return wholeDone(call.id, end, ts);
  const [head, beforeId, beforeMs, beforeHttp, tail] = plainDone;
  return head + ts + beforeId + call.id + beforeMs + end.ms + beforeHttp + end.http + tail;
}

export function refusedRecord(call: CallParts, end: EndParts): string {
  return wholeRecord('refused', call, end);
}

/** For a successful call that never reached its server. */
export function cachedRecord(call: CallParts, end: EndParts): string {
  return wholeRecord('cached', call, end);
}

export function runLine(call: CallParts, connection: LedgerConnection, end: EndParts): string {
  if (!isPlain(end)) return wholeLine(call, connection, end);
  const [head, beforeArgs, beforeMs, beforeId, beforeHttp, tail] = frameOf(call, connection).line;
  const start = head + call.ts + beforeArgs + call.args + beforeMs + end.ms;
  return start + beforeId + call.id + beforeHttp + end.http + tail;
}

/** Includes outcomes that require the caller to come back. */
export function isGood(outcome: Outcome): boolean {
  return outcome === 'ok' || outcome === 'input_required' || outcome === 'task' || outcome === 'pending';
}

/** A number as JSON; null for any other value. */
export function numberText(value: unknown): string {
  return Number.isFinite(value) ? String(value) : 'null';
}

function frameOf({ subject, run }: CallParts, connection: LedgerConnection): Frame {
  const { frame } = subject;
  if (frame !== undefined && frame.connection === connection && frame.run === run) return frame;
  subject.frame = createFrame(subject, run, connection);
  return subject.frame;
}

function createFrame(subject: LedgerSubject, run: string, connection: LedgerConnection): Frame {
  const call = { id: gap, ts: gap, args: gap, run, subject };
  const sent = wholeSent(call, connection).split(gap);
  const line = wholeLine(call, connection, { ...plainEnd, ms: gap, http: gap }).split(gap);
  // The split has as many pieces as gaps were put in, plus one.
  return { connection, run, sent: sent as unknown as Frame['sent'], line: line as unknown as Frame['line'] };
}

function isPlain({ outcome, error, retries }: EndParts): boolean {
  return outcome === 'ok' && error === 'null' && retries === '0';
}

/** Cannot occur in JSON, which escapes it inside strings. */
const gap = '\0';
const plainEnd: EndParts = { outcome: 'ok', ms: 'null', error: 'null', http: 'null', retries: '0' };
const plainDone = wholeDone(gap, { ...plainEnd, ms: gap, http: gap }, gap).split(gap) as unknown as DonePieces; // four gaps

function wholeSent(call: CallParts, connection: LedgerConnection): string {
  return `{"k":"sent","ts":"${call.ts}","id":"${call.id}","run":"${call.run}",${call.subject.text},${connection.text},"args":${call.args}}\n`;
}

function wholeDone(id: string, end: EndParts, ts: string): string {
  return `{"k":"done","ts":"${ts}","id":"${id}",${endMembers(end)}}\n`;
}

/** The order of members is part of the format, because people read it directly too. */
function wholeLine(call: CallParts, connection: LedgerConnection, end: EndParts): string {
  const { subject } = call;
  const status = isGood(end.outcome) ? 'ok' : 'error';
  return `{"ts":"${call.ts}",${subject.what},"args":${call.args},"status":"${status}","outcome":"${end.outcome}","duration_ms":${end.ms},"error":${end.error},${subject.who},"call_id":"${call.id}","run_id":"${call.run}",${connection.text},"http_status":${end.http},"retries":${end.retries},${subject.decision}}\n`;
}

function wholeRecord(kind: 'refused' | 'cached', call: CallParts, end: EndParts): string {
  return `{"k":"${kind}","ts":"${call.ts}","id":"${call.id}","run":"${call.run}",${call.subject.text},${endMembers(end)},"args":${call.args}}\n`;
}

function endMembers(end: EndParts): string {
  return `"outcome":"${end.outcome}","ms":${end.ms},"error":${end.error},"http":${end.http},"retries":${end.retries}`;
}
