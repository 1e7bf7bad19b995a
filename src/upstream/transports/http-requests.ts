import type { Dispatcher } from 'undici';
import type { HttpTransportSpec } from '../../domain/index.ts';
import { encodeHeaderValue, mirroredArgumentHeaders } from '../../mcp/index.ts';
import { type Envelope, legacyEnvelope, type UpstreamRequest } from '../transport.ts';
import type { Credentials } from './credentials.ts';

/** Builds the requests of one HTTP connection: address, credentials, protocol version and session. */
export class HttpRequests {
  readonly #transport: HttpTransportSpec;
  readonly #path: string;
  readonly #credentials: Credentials;
  #envelope: Envelope = legacyEnvelope('');
  #sessionId: string | null = null;
  /** The headers for these credentials. They change only with the protocol version or the session. */
  #credentialHeaders: readonly string[] | undefined;
  #common: readonly string[] = [];

  constructor(transport: HttpTransportSpec, url: URL, credentials: Credentials) {
    this.#transport = transport;
    this.#path = url.pathname + url.search;
    this.#credentials = credentials;
  }

  get envelope(): Envelope {
    return this.#envelope;
  }

  get sessionId(): string | null {
    return this.#sessionId;
  }

  speak(envelope: Envelope): void {
    this.#envelope = envelope;
    this.#credentialHeaders = undefined;
  }

  rememberSession(sessionId: string): void {
    this.#sessionId = sessionId;
    this.#credentialHeaders = undefined;
  }

  call(request: UpstreamRequest, body: string): Dispatcher.DispatchOptions {
    const headers = this.#postHeaders();
    if (request.headers !== undefined) headers.push(...request.headers);
    if (this.#envelope.era === 'modern') {
      headers.push('mcp-method', request.method);
      if (request.name !== undefined) headers.push('mcp-name', encodeHeaderValue(request.name));
      if (request.mirrored.length > 0) headers.push(...mirroredArgumentHeaders(request.mirrored, request.args).flat());
    }
    return this.#post(headers, body);
  }

  notification(method: string, body: string): Dispatcher.DispatchOptions {
    const headers = this.#postHeaders();
    if (this.#envelope.era === 'modern') headers.push('mcp-method', method);
    return this.#post(headers, body);
  }

  /** The answer to a request of the server. */
  answer(body: string): Dispatcher.DispatchOptions {
    return this.#post(this.#postHeaders(), body);
  }

  /** Opens the change stream, or with an event id, the stream of that event. */
  stream(lastId: string | undefined): Dispatcher.DispatchOptions {
    const headers = [...this.#commonHeaders(), 'accept', 'text/event-stream'];
    if (lastId) headers.push('last-event-id', lastId);
    return { path: this.#path, method: 'GET', headers, body: null };
  }

  /** Ends the session. */
  goodbye(): Dispatcher.DispatchOptions {
    return { path: this.#path, method: 'DELETE', headers: [...this.#commonHeaders()], body: null };
  }

  #post(headers: string[], body: string): Dispatcher.DispatchOptions {
    return { path: this.#path, method: 'POST', headers, body };
  }

  /** Many servers refuse any POST without both types. */
  #postHeaders(): string[] {
    return [...this.#commonHeaders(), 'accept', 'application/json, text/event-stream'];
  }

  #commonHeaders(): readonly string[] {
    const credentials = this.#credentials.headersFor(this.#transport);
    if (credentials === this.#credentialHeaders) return this.#common;
    const headers = [...credentials, 'content-type', 'application/json'];
    if (this.#envelope.version !== '') headers.push('mcp-protocol-version', this.#envelope.version);
    if (this.#sessionId !== null) headers.push('mcp-session-id', this.#sessionId);
    this.#credentialHeaders = credentials;
    this.#common = headers;
    return headers;
  }
}
