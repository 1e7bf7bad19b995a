import { isJsonObject } from '../../base/index.ts';
import { type Outcome, runIdPattern, type TransportKind, transportKinds } from '../../domain/index.ts';
import {
  type CallParts,
  cachedAnswer,
  type DecisionFacts,
  type EndParts,
  type LedgerConnection,
  ledgerConnection,
  ledgerSubject,
  noConnection,
  numberText,
  type SubjectFacts,
} from '../records/call-text.ts';
import { cutMember } from '../records/cut-text.ts';
import { readLineChunks } from './line-chunks.ts';

export interface JournalSource {
  readonly path: string;
  readonly upTo?: number;
}

/** A call from the record of its sending, of its wait for a decision, or of its refusal. */
export interface RecordedStart {
  readonly parts: CallParts;
  readonly connection: LedgerConnection;
}

export interface PairedJournal {
  /** Calls that were sent and have no recorded end. */
  readonly open: ReadonlyMap<string, RecordedStart>;
  /** Calls that were held and neither sent nor ended. They did not run. */
  readonly held: ReadonlyMap<string, RecordedStart>;
  /** The number of complete lines that are not records. */
  readonly corrupt: number;
}

/** Reads the files of one process life in order and joins the records of each call. */
export async function pairCalls(
  sources: readonly JournalSource[],
  onEnded: (call: RecordedStart, end: EndParts) => void | Promise<void>,
): Promise<PairedJournal> {
  const open = new Map<string, RecordedStart>();
  const held = new Map<string, RecordedStart>();
  let corrupt = 0;
  for (const source of sources) {
    for await (const { lines } of readLineChunks(source.path, 0, source.upTo)) {
      for (const line of lines) {
        const record = parseRecord(line);
        if (record === undefined) corrupt++;
        else if (record.kind === 'held') held.set(record.call.parts.id, record.call);
        else if (record.kind === 'sent') {
          held.delete(record.call.parts.id);
          open.set(record.call.parts.id, record.call);
        } else if (record.kind === 'whole') {
          held.delete(record.call.parts.id);
          await onEnded(record.call, record.end);
        } else if (record.kind === 'done') {
          const call = open.get(record.id) ?? held.get(record.id);
          // The `sent` record may be in a file that retention removed.
          if (call === undefined) continue;
          open.delete(record.id);
          held.delete(record.id);
          await onEnded(call, record.end);
        }
      }
    }
  }
  return { open, held, corrupt };
}

export interface EndedRecord {
  readonly call: RecordedStart;
  readonly end: EndParts;
}

/** A call by the record of its start and of its end, which may be the same. Undefined if one is damaged. */
export function endedCall(start: string, end: string): EndedRecord | undefined {
  const first = parseRecord(start);
  if (first?.kind === 'whole') return first;
  const last = parseRecord(end);
  if ((first?.kind !== 'sent' && first?.kind !== 'held') || last?.kind !== 'done') return undefined;
  return { call: first.call, end: last.end };
}

/** A call by the record of its start. Undefined if that is damaged. */
export function startedCall(line: string): RecordedStart | undefined {
  const record = parseRecord(line);
  return record?.kind === 'sent' || record?.kind === 'held' ? record.call : undefined;
}

type JournalRecord =
  | { readonly kind: 'held' | 'sent'; readonly call: RecordedStart }
  | { readonly kind: 'whole'; readonly call: RecordedStart; readonly end: EndParts }
  | { readonly kind: 'done'; readonly id: string; readonly end: EndParts }
  | { readonly kind: 'other' };

type Fields = Readonly<Record<string, unknown>>;

function parseRecord(line: string): JournalRecord | undefined {
  const fields = parseFields(line);
  if (fields === undefined || typeof fields.k !== 'string') return undefined;
  if (fields.k === 'done') {
    const end = endOf(fields);
    return end !== undefined && isId(fields.id) ? { kind: 'done', id: fields.id, end } : undefined;
  }
  if (!isCallRecord(fields.k)) return { kind: 'other' };
  const parts = partsOf(fields, line);
  if (parts === undefined) return undefined;
  if (fields.k === 'held') return { kind: 'held', call: { parts, connection: noConnection } };
  if (fields.k === 'sent') return { kind: 'sent', call: { parts, connection: connectionOf(fields) } };
  const end = endOf(fields);
  const connection = fields.k === 'cached' ? cachedAnswer : noConnection;
  return end === undefined ? undefined : { kind: 'whole', call: { parts, connection }, end };
}

function isCallRecord(kind: string): boolean {
  return kind === 'sent' || kind === 'held' || kind === 'refused' || kind === 'cached';
}

function parseFields(line: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function partsOf(fields: Fields, line: string): CallParts | undefined {
  const { id, ts, run, server, tool, method, agent, chain, decision } = fields;
  if (!isId(id) || typeof ts !== 'string' || !isoTime.test(ts)) return undefined;
  if (typeof run !== 'string' || !runIdPattern.test(run)) return undefined;
  if (typeof tool !== 'string' || typeof agent !== 'string' || typeof decision !== 'string') return undefined;
  if (typeof server !== 'string' && server !== null) return undefined;
  const names = Array.isArray(chain) ? chain.filter((name) => typeof name === 'string') : [agent];
  const asked = typeof method === 'string' ? { method } : {};
  const facts: SubjectFacts = {
    agent,
    chain: names,
    server,
    tool,
    ...asked,
    ...decisionOf(fields, decision),
  };
  // Slices the text instead of serializing the parsed value, to preserve big integers. Arguments are the last member,
  // and this sequence cannot occur before them because quotes inside strings are escaped.
  const args = line.slice(line.indexOf(argsMember) + argsMember.length, -1);
  return { id, ts, run, subject: ledgerSubject(facts), args };
}

function decisionOf(fields: Fields, decision: string): DecisionFacts {
  const { rule, rule_source: ruleSource, shadow, shadow_rule: triedRule, shadow_rule_source: triedSource } = fields;
  const tried = { rule: textOrNull(triedRule), ruleSource: textOrNull(triedSource) };
  return {
    decision,
    rule: textOrNull(rule),
    ruleSource: textOrNull(ruleSource),
    ...(typeof shadow === 'string' ? { shadow: { decision: shadow, ...tried } } : {}),
    approval: approvalOf(fields),
    ...(fields.labels === undefined ? {} : { labels: textsOrNull(fields.labels) }),
  };
}

function textsOrNull(value: unknown): readonly string[] | null {
  return Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : null;
}

function approvalOf({ approval: id, approval_nonce: nonce }: Fields): DecisionFacts['approval'] {
  return typeof id === 'string' && typeof nonce === 'string' ? { id, nonce } : undefined;
}

/** An earlier release left it out. */
function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function connectionOf(fields: Fields): LedgerConnection {
  const { transport, protocol_version: protocolVersion, session_id: sessionId } = fields;
  if (!isTransportKind(transport)) return noConnection;
  return ledgerConnection({
    transport,
    protocolVersion: typeof protocolVersion === 'string' ? protocolVersion : null,
    sessionId: typeof sessionId === 'string' ? sessionId : null,
  });
}

function isTransportKind(value: unknown): value is TransportKind {
  return transportKinds.some((kind) => kind === value);
}

function endOf(fields: Fields): EndParts | undefined {
  const { outcome, ms, error, http, retries } = fields;
  if (typeof outcome !== 'string' || !/^[a-z_]+$/.test(outcome)) return undefined;
  return {
    // Written by a hub, possibly a newer one with an outcome that this version does not know.
    outcome: outcome as Outcome,
    ms: numberText(ms),
    error: typeof error === 'string' ? errorOf(error, fields) : 'null',
    http: numberText(http),
    retries: numberText(retries),
  };
}

function errorOf(error: string, { error_length: length, error_sha256: sha256 }: Fields): string {
  const isCut = typeof length === 'number' && typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256);
  return isCut ? cutMember('error', error, length, sha256) : JSON.stringify(error);
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && /^[a-z0-9]+-\d+$/.test(value);
}

const isoTime = /^[\d:.TZ+-]+$/;
const argsMember = ',"args":';
