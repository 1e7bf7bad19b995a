import type { ClientCapabilities, ClientResponse, RequestHeaders, ServerRequest } from '../mcp/index.ts';

/**
 * The way back to the caller while a call is in flight. The face attaches one and may replace
 * or detach it while the call goes on. An undefined member means that the caller does not want
 * or support it.
 */
export interface CallerChannel {
  readonly progress?: ((params: Readonly<Record<string, unknown>>) => void) | undefined;
  readonly log?: LogChannel | undefined;
  /** Never rejects. */
  readonly ask?: ((serverRequest: ServerRequest) => Promise<ClientResponse>) | undefined;
}

export interface LogChannel {
  /** The level that the caller asked for. Undefined: the server's default. */
  readonly level: string | undefined;
  send(params: Readonly<Record<string, unknown>>): void;
}

/** The client program of a call. */
export interface CallClient {
  /** The authenticated identity: the same for all requests with one token. */
  readonly principal: string;
  /** As it calls itself. */
  readonly name?: string | undefined;
  /** Undefined for a client without a session. */
  readonly session: string | undefined;
  readonly clientCapabilities: ClientCapabilities;
  /** It supports `input_required`: it calls again with the requested input. */
  readonly takesInputRequired: boolean;
  /** It supports tasks: it asks for the result later. Absent means no. */
  readonly takesTasks?: boolean;
  /** HTTP headers of the request, which repeat arguments of some tools. Absent for other transports. */
  readonly headers?: RequestHeaders | undefined;
}
