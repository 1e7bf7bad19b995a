import type { Outcome, TransportKind } from '../domain/index.ts';

/**
 * The text of journal records and run lines, put together from parts that are serialised once.
 * Everything here runs several times per call: no objects are printed, nothing is parsed.
 */
export interface SubjectFacts {
  readonly agent: string;
  /** The agent and those that delegated to it, nearest first. */
  readonly chain: readonly string[];
  /** Null when the name that was called belongs to no server. */
  readonly server: string | null;
  readonly tool: string;
  /** Told where it is not `tools/call`. */
  readonly method?: string;
  readonly decision: string;
  /** The name is the caller's own text though it belongs to a server. */
  readonly asSaid?: boolean;
}

/** Who calls what, as JSON members without braces; built once per entry of a view. */
export interface LedgerSubject {
  readonly text: string;
  readonly what: string;
  readonly who: string;
  readonly decision: string;
  /** False when the name is the caller's own text and may hold anything. */
  readonly known: boolean;
  /** What was last put together for it. */
  frame: Frame | undefined;
}

export function ledgerSubject(facts: SubjectFacts): LedgerSubject {
  const { method } = facts;
  const asked = method === undefined || method === 'tools/call' ? '' : `,"method":${JSON.stringify(method)}`;
  const what = `"server":${JSON.stringify(facts.server)},"tool":${JSON.stringify(facts.tool)}${asked}`;
  const chain = facts.chain.length > 1 ? `,"chain":${JSON.stringify(facts.chain)}` : '';
  const who = `"agent":${JSON.stringify(facts.agent)}${chain}`;
  const decision = `"decision":${JSON.stringify(facts.decision)}`;
  return {
    text: `${what},${who},${decision}`,
    what,
    who,
    decision,
    known: facts.server !== null && facts.asSaid !== true,
    frame: undefined,
  };
}

export interface ConnectionFacts {
  readonly transport: TransportKind;
  /** Null where none was agreed on, as when the server refused the handshake. */
  readonly protocolVersion: string | null;
  readonly sessionId: string | null;
}

/** Which connection carries the call, as JSON members without braces; built once per connection. */
export interface LedgerConnection {
  readonly text: string;
}

export function ledgerConnection(facts: ConnectionFacts): LedgerConnection {
  const { transport, protocolVersion, sessionId } = facts;
  return {
    text: `"transport":"${transport}","protocol_version":${JSON.stringify(protocolVersion)},"session_id":${JSON.stringify(sessionId)}`,
  };
}

/** The members of a call that no connection carried. */
export const noConnection: LedgerConnection = {
  text: '"transport":null,"protocol_version":null,"session_id":null',
};

/** The same of a call that was answered by what was kept of an earlier one. */
export const keptAnswer: LedgerConnection = { text: `${noConnection.text},"cached":true` };

/** A call's parts as they stand in every text about it. */
export interface CallParts {
  readonly id: string;
  /** Start of the call, ISO. */
  readonly ts: string;
  readonly run: string;
  readonly subject: LedgerSubject;
  /** Redacted, on one line; with the members that tell of a cut, where it was too long. */
  readonly args: string;
}

/** How a call ended, every member as JSON text. */
export interface EndParts {
  readonly outcome: Outcome;
  readonly ms: string;
  /** With the members that tell of a cut, where it was too long. */
  readonly error: string;
  readonly http: string;
  readonly retries: string;
}

/** What differs from one call to the next stands between these pieces; the rest is the same for most calls of a subject. */
interface Frame {
  readonly connection: LedgerConnection;
  readonly run: string;
  readonly sent: readonly [string, string, string, string];
  /** Of a call that simply went well. */
  readonly line: readonly [string, string, string, string, string];
}

export function sentRecord(call: CallParts, connection: LedgerConnection): string {
  const [head, beforeId, beforeArgs, tail] = frameOf(call, connection).sent;
  return head + call.ts + beforeId + call.id + beforeArgs + call.args + tail;
}

export function doneRecord(call: CallParts, end: EndParts, ts: string): string {
  if (!isPlain(end)) return wholeDone(call.id, end, ts);
  const [head, beforeId, beforeMs, tail] = plainDone;
  return head + ts + beforeId + call.id + beforeMs + end.ms + tail;
}

export function refusedRecord(call: CallParts, end: EndParts): string {
  return wholeRecord('refused', call, end);
}

/** Of a call that its server never heard of, and that went well. */
export function cachedRecord(call: CallParts, end: EndParts): string {
  return wholeRecord('cached', call, end);
}

/** One line of a run file. */
export function runLine(call: CallParts, connection: LedgerConnection, end: EndParts): string {
  if (!isPlain(end)) return wholeLine(call, connection, end);
  const [head, beforeArgs, beforeMs, beforeId, tail] = frameOf(call, connection).line;
  return head + call.ts + beforeArgs + call.args + beforeMs + end.ms + beforeId + call.id + tail;
}

/** Nothing went wrong, though the caller may have to come again. */
export function isGood(outcome: Outcome): boolean {
  return outcome === 'ok' || outcome === 'input_required' || outcome === 'task';
}

/** A number as JSON, null for what is none. */
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
  const line = wholeLine(call, connection, { ...plainEnd, ms: gap }).split(gap);
  // So many gaps were put in.
  return { connection, run, sent: sent as unknown as Frame['sent'], line: line as unknown as Frame['line'] };
}

function isPlain({ outcome, error, http, retries }: EndParts): boolean {
  return outcome === 'ok' && error === 'null' && http === 'null' && retries === '0';
}

/** JSON has no such character: inside of strings it is escaped. */
const gap = '\0';
const plainEnd: EndParts = { outcome: 'ok', ms: 'null', error: 'null', http: 'null', retries: '0' };
const plainDone = wholeDone(gap, { ...plainEnd, ms: gap }, gap).split(gap) as unknown as Frame['sent']; // three gaps, too

function wholeSent(call: CallParts, connection: LedgerConnection): string {
  return `{"k":"sent","ts":"${call.ts}","id":"${call.id}","run":"${call.run}",${call.subject.text},${connection.text},"args":${call.args}}\n`;
}

function wholeDone(id: string, end: EndParts, ts: string): string {
  return `{"k":"done","ts":"${ts}","id":"${id}",${endMembers(end)}}\n`;
}

/** The order of members is part of the format: people read it with their eyes too. */
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
