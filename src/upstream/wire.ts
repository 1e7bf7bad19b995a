import { HubError } from '../base/index.ts';
import type { MirroredArgument, TransportKind } from '../domain/index.ts';
import { type Era, metaKeys, type Question, type QuestionAnswer, type UpstreamMessage } from '../mcp/index.ts';

/** A request towards an upstream, as JSON parts so that arguments travel unparsed. */
export interface WireRequest {
  readonly method: string;
  /** Members of `params` without `_meta`: `"name":"echo","arguments":{}`. */
  readonly members: string;
  /** Members of `params._meta` beyond the era's own. */
  readonly meta: string;
  /** More headers for a server behind HTTP: names and values, in turn. */
  readonly headers?: readonly string[] | undefined;
  /** What modern HTTP repeats in the Mcp-Name header. */
  readonly name: string | undefined;
  /** What modern HTTP repeats in Mcp-Param headers, and the parsed arguments to read it from. */
  readonly mirrored: readonly MirroredArgument[];
  readonly args: unknown;
  /** Silence allowed; progress starts it anew. */
  readonly timeoutMs: number;
  /** Time allowed in all. */
  readonly maxMs: number;
  /** What the client behind the request can be asked, as a JSON object; a legacy server heard it in the handshake. */
  readonly capabilities: string;
  /** Undefined where nobody wants to hear anything before the answer. */
  readonly hearing: Hearing | undefined;
}

/** Where messages go that a server sends before its answer. */
export interface Hearing {
  /** Who hears: calls of one client have the same. */
  readonly owner: unknown;
  readonly wantsProgress: boolean;
  progress(params: Readonly<Record<string, unknown>>): void;
  log(params: Readonly<Record<string, unknown>>): void;
  /** Never rejects: whoever cannot be asked answers with an error. */
  ask(question: Question): Promise<QuestionAnswer>;
}

export type WireResult = UpstreamMessage & { readonly kind: 'result' };
/** Over HTTP an error may come with a status of its own. */
export type WireError = UpstreamMessage & { readonly kind: 'error'; readonly httpStatus?: number };

/** The request got no answer. */
export interface WireFailure {
  readonly kind: 'failed';
  readonly error: HubError;
  /**
   * connection: the link is gone; session: the server forgot us; neither is the tool's doing.
   * answer: the server said no in its own way; gave-up: timeout, cancel, or an answer that was resumed in vain.
   */
  readonly cause: 'connection' | 'session' | 'answer' | 'gave-up';
  /** The server may have seen the request. */
  readonly sent: boolean;
  readonly httpStatus: number | undefined;
}

export type WireReply = WireResult | WireError | WireFailure;

export interface WireCall {
  readonly reply: Promise<WireReply>;
  cancel(error: HubError): void;
}

/** One link to one server, before and after the handshake. */
export interface Wire {
  readonly transport: TransportKind;
  request(request: WireRequest): WireCall;
  /** Where the transport can tell, resolves when the server has it or cannot have it. Never rejects. */
  notify(method: string, params?: unknown): Promise<void> | undefined;
  /** Speaks the given revision from now on. */
  speak(envelope: Envelope): void;
  /** Opens the stream on which a legacy HTTP server announces changes; the others need none. */
  openChangeStream(): Promise<void> | undefined;
  readonly sessionId: string | null;
  /** What the server has not taken yet. */
  readonly queuedBytes: number;
  /** Losing it says nothing about the next one: calls were answered, or each has a connection of its own. */
  readonly proven: boolean;
  close(): Promise<void>;
}

export interface WireEvents {
  onNotification(method: string, params: Readonly<Record<string, unknown>>): void;
  /** The link is gone for good; at most once, never after `close`. */
  onLost(error: HubError): void;
  /** The server wants another credential (401, 403, 451) than the one that it took before. */
  onRefused(error: HubError): void;
}

/** What each request says about itself: nothing in the legacy era, three members in the modern one. */
export interface Envelope {
  readonly era: Era;
  readonly version: string;
  /** Members of `_meta`; in the modern era the capabilities of the request end the last one. */
  readonly meta: string;
}

export function legacyEnvelope(version: string): Envelope {
  return { era: 'legacy', version, meta: '' };
}

export function modernEnvelope(version: string, client: { name: string; version: string }): Envelope {
  const meta = JSON.stringify({ [metaKeys.protocolVersion]: version, [metaKeys.clientInfo]: client }).slice(1, -1);
  return { era: 'modern', version, meta: `${meta},"${metaKeys.clientCapabilities}":` };
}

/** The whole request as text. */
export function requestText(id: number, request: WireRequest, envelope: Envelope): string {
  const { hearing } = request;
  const progress = hearing === undefined || !hearing.wantsProgress ? '' : `"progressToken":${id}`;
  const own = envelope.meta === '' ? '' : envelope.meta + request.capabilities;
  const meta = join(join(own, request.meta), progress);
  const params = join(request.members, meta === '' ? '' : `"_meta":{${meta}}`);
  return `{"jsonrpc":"2.0","id":${id},"method":"${request.method}","params":{${params}}}`;
}

/** A request of the hub's own. */
export function controlRequest(method: string, params: Record<string, unknown>, timeoutMs: number): WireRequest {
  return {
    method,
    members: JSON.stringify(params).slice(1, -1),
    meta: '',
    headers: undefined,
    name: undefined,
    mirrored: [],
    args: undefined,
    timeoutMs,
    maxMs: timeoutMs,
    capabilities: '{}',
    hearing: undefined,
  };
}

/** Asks on the hub's own behalf; nobody waits for the answer once the signal aborts. */
export function ask(wire: Wire, request: WireRequest, signal: AbortSignal): Promise<WireReply> {
  const call = wire.request(request);
  const giveUp = (): void => call.cancel(new HubError('CANCELLED', 'The connection is closing.'));
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp, { once: true });
  return call.reply.finally(() => signal.removeEventListener('abort', giveUp));
}

function join(left: string, right: string): string {
  if (left === '') return right;
  return right === '' ? left : `${left},${right}`;
}
