import { type AgentAccount, HubError } from '../base/index.ts';
import type { MirroredArgument, TransportKind } from '../domain/index.ts';
import {
  type ClientResponse,
  type Era,
  metaKeys,
  type ServerRequest,
  sharedCapabilities,
  type UpstreamMessage,
} from '../mcp/index.ts';

/** A request to an upstream server, as JSON text, so that arguments are forwarded unparsed. */
export interface UpstreamRequest {
  readonly method: string;
  /** Members of `params` without `_meta`: `"name":"echo","arguments":{}`. */
  readonly members: string;
  /** Members of `params._meta` beyond the era's own. */
  readonly meta: string;
  /** Additional HTTP headers: names and values alternate. */
  readonly headers?: readonly string[] | undefined;
  /** The value of the Mcp-Name header in modern HTTP. */
  readonly name: string | undefined;
  /** The arguments for Mcp-Param headers in modern HTTP, and the parsed arguments with their values. */
  readonly mirrored: readonly MirroredArgument[];
  readonly args: unknown;
  /** The longest silence. Progress restarts it. */
  readonly timeoutMs: number;
  /** The total time limit. */
  readonly maxMs: number;
  /** The client's capabilities, as a JSON object. A legacy server got them in the handshake. */
  readonly capabilities: string;
  /** Undefined if nobody wants messages before the answer. */
  readonly handlers: RequestHandlers | undefined;
  /** The account for large results. Undefined for the hub's own requests. */
  readonly account?: AgentAccount | undefined;
  /** The longest result that is read. */
  readonly maxAnswerLength?: number | undefined;
}

/** Handlers for messages that a server sends before its answer. */
export interface RequestHandlers {
  /** Identifies the client: equal for all its calls. */
  readonly owner: unknown;
  readonly wantsProgress: boolean;
  progress(params: Readonly<Record<string, unknown>>): void;
  log(params: Readonly<Record<string, unknown>>): void;
  /** Never rejects. A client that cannot be asked answers with an error. */
  ask(serverRequest: ServerRequest): Promise<ClientResponse>;
}

/** Over HTTP, an answer has the status of its exchange. */
export type ResultReply = UpstreamMessage & { readonly kind: 'result'; readonly httpStatus?: number };
/** Over HTTP, an error may have its own status. */
export type ErrorReply = UpstreamMessage & { readonly kind: 'error'; readonly httpStatus?: number };

/** The request got no answer. */
export interface FailedReply {
  readonly kind: 'failed';
  readonly error: HubError;
  /**
   * connection: the connection is gone. session: the server forgot the session. Neither is the tool's fault.
   * answer: the server refused. gave-up: timeout, cancellation, or an answer stream that could not be resumed.
   */
  readonly cause: 'connection' | 'session' | 'answer' | 'gave-up';
  /** The server may have seen the request. */
  readonly sent: boolean;
  readonly httpStatus: number | undefined;
}

export type UpstreamReply = ResultReply | ErrorReply | FailedReply;

export interface PendingRequest {
  readonly reply: Promise<UpstreamReply>;
  cancel(error: HubError): void;
}

/** One connection to one server, before and after the handshake. */
export interface Transport {
  readonly kind: TransportKind;
  request(request: UpstreamRequest): PendingRequest;
  /** If the transport knows, resolves when the server has received it or cannot receive it. Never rejects. */
  notify(method: string, params?: unknown): Promise<void> | undefined;
  /** Sets the protocol version for the following requests. */
  speak(envelope: Envelope): void;
  /** Opens the stream on which a legacy HTTP server announces changes. Other transports need none. */
  openChangeStream(): Promise<void> | undefined;
  readonly sessionId: string | null;
  /** Bytes that the server has not read yet. */
  readonly queuedBytes: number;
  /** A loss is no sign of a broken server: it has answered calls, or each call has its own connection. */
  readonly proven: boolean;
  close(): Promise<void>;
}

export interface TransportEvents {
  onNotification(method: string, params: Readonly<Record<string, unknown>>): void;
  /** The connection is lost. Called at most once, and never after `close`. */
  onLost(error: HubError): void;
  /** The server refuses the credential (401, 403, 451) that it accepted before. */
  onRefused(error: HubError): void;
}

/** The members of `_meta` that each request needs: none in the legacy era, three in the modern one. */
export interface Envelope {
  readonly era: Era;
  readonly version: string;
  /** Members of `_meta`. In the modern era, the request's capabilities complete the last one. */
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
export function requestText(id: number, request: UpstreamRequest, envelope: Envelope): string {
  const { handlers } = request;
  const progress = handlers === undefined || !handlers.wantsProgress ? '' : `"progressToken":${id}`;
  const own = envelope.meta === '' ? '' : envelope.meta + request.capabilities;
  const meta = join(join(own, request.meta), progress);
  const params = join(request.members, meta === '' ? '' : `"_meta":{${meta}}`);
  return `{"jsonrpc":"2.0","id":${id},"method":"${request.method}","params":{${params}}}`;
}

/** A request that the hub makes on its own account. */
export function controlRequest(method: string, params: Record<string, unknown>, timeoutMs: number): UpstreamRequest {
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
    capabilities: sharedCapabilities,
    handlers: undefined,
    maxAnswerLength: maxControlLength,
  };
}

/** The hub parses the answers to its own requests, or large parts of them. */
export const maxControlLength: number = 8 * 1024 * 1024;

/** Sends a request of the hub's own. The signal cancels it. */
export function ask(transport: Transport, request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamReply> {
  const call = transport.request(request);
  const giveUp = (): void => call.cancel(new HubError('CANCELLED', 'The connection is closing.'));
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp, { once: true });
  return call.reply.finally(() => signal.removeEventListener('abort', giveUp));
}

function join(left: string, right: string): string {
  if (left === '') return right;
  return right === '' ? left : `${left},${right}`;
}
