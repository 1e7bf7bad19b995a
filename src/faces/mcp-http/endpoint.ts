import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, createId, HubError, type Logger, type RandomBytes, toHubError } from '../../base/index.ts';
import { createParkedCalls } from '../../calls/index.ts';
import { type Caller, runIdPattern } from '../../domain/index.ts';
import type { TokenBook, TokenIdentity } from '../../governance/index.ts';
import type { Hub } from '../../hub/index.ts';
import { type Body, classify, inTrace, isModernVersion, type MirroredHeaders, readBody } from '../../mcp/index.ts';
import { createRounds, invalidMessage, parkedLimits } from '../mcp/index.ts';
import { createAdmission } from './admission.ts';
import { createAnnouncer } from './announcer.ts';
import { createClientSessions } from './client-sessions.ts';
import type { Exchange } from './exchange.ts';
import type { KnownHeaders } from './known-headers.ts';
import { createLegacyFace } from './legacy.ts';
import { createModernFace } from './modern.ts';
import { readText } from './read-text.ts';
import { sendRefusal, sendStatus } from './response.ts';
import { createSubscriptions } from './subscriptions.ts';

/** `/mcp`: both protocol eras on one address, decided for each request. */
export interface McpEndpoint {
  handle(request: IncomingMessage, response: ServerResponse, headers: KnownHeaders): void;
  readonly clientSessions: number;
  /** Ends open streams in the protocol's own way. */
  close(): void;
}

export interface McpEndpointDeps {
  readonly hub: Hub;
  readonly tokens: TokenBook;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: RandomBytes;
}

const maxSubscriptions = 4096;

export function createMcpEndpoint(deps: McpEndpointDeps): McpEndpoint {
  const { hub, tokens, clock, logger, random } = deps;
  const { serve } = hub.fleet;
  const sessions = createClientSessions(
    { clock, newId: () => createId(random, 26) },
    { idleMs: serve.clientSessionIdleMs, max: serve.maxClientSessions },
  );
  const subscriptions = createSubscriptions(maxSubscriptions);
  const admitted = createAdmission(tokens, clock);
  const announcer = createAnnouncer({ clock, hub, sessions, subscriptions, admission: admitted });
  const forgetTokens = tokens.onChange(() => {
    admitted.forget();
    announcer.recheck();
  });
  const parked = createParkedCalls({ clock, newId: () => createId(random, 26) }, parkedLimits);
  const rounds = createRounds({ hub, parked });
  const legacy = createLegacyFace({ hub, clock, sessions, revision: () => announcer.revision });
  const modern = createModernFace({ hub, rounds, subscriptions });
  const callers = new WeakMap<TokenIdentity, Caller>();

  // Plain functions and callbacks: an async function for each layer costs more than what the layers do.
  function handle(request: IncomingMessage, response: ServerResponse, headers: KnownHeaders): void {
    try {
      const exchange = admit(request, response, headers);
      if (request.method === 'POST') post(exchange);
      else if (isModernVersion(headers['mcp-protocol-version'] ?? '')) notAllowed(response, 'POST');
      else if (request.method === 'GET') legacy.get(exchange);
      else if (request.method === 'DELETE') legacy.remove(exchange);
      else notAllowed(response, 'GET, POST, DELETE');
    } catch (error) {
      refuse(response, error, 'null');
    }
  }

  function post(exchange: Exchange): void {
    const { request, response, headers } = exchange;
    if (!isJson(headers['content-type'])) {
      sendStatus(response, 415);
      return;
    }
    readText(
      request,
      headers['content-length'],
      hub.fleet.serve.maxBodyBytes,
      (text) => receive(exchange, text),
      (error) => refuse(response, error, 'null'),
    );
  }

  function receive(exchange: Exchange, text: string): void {
    const { response } = exchange;
    let idText = 'null';
    try {
      const body = bodyOf(text, exchange.headers);
      const first = body.messages[0];
      if (first?.kind === 'request' && !body.batch) idText = first.idText;
      if (body.batch || first === undefined) {
        attend(response, legacy.batch(exchange, body.messages), idText);
        return;
      }
      if (first.kind === 'invalid') throw invalidMessage(first.reason);
      const headers = mirroredHeaders(exchange.headers);
      const face = classify(first, headers) === 'modern' ? modern : legacy;
      attend(response, face.post(exchange, first, headers), idText);
    } catch (error) {
      refuse(response, error, idText);
    }
  }

  function attend(response: ServerResponse, work: Promise<void> | undefined, idText: string): void {
    work?.catch((error: unknown) => refuse(response, error, idText));
  }

  function refuse(response: ServerResponse, error: unknown, idText: string): void {
    const known = toHubError(error);
    if (known.code === 'INTERNAL') logger.error('mcp_request_failed', { error: known.message, stack: known.stack });
    sendRefusal(response, known, idText);
  }

  /** Identity comes with each request, never with a session. */
  function admit(request: IncomingMessage, response: ServerResponse, headers: KnownHeaders): Exchange {
    const { authorization, accept } = headers;
    const identity = admitted.identify(authorization);
    if (identity === undefined) throw unauthenticated(authorization !== undefined);
    return {
      request,
      response,
      headers,
      caller: callerOf(identity, headers['x-quartermaster-run']),
      owner: identity.tokenId,
      acceptsStream: accept === undefined || accept.includes('text/event-stream') || accept.includes('*/*'),
    };
  }

  function callerOf(identity: TokenIdentity, run: string | undefined): Caller {
    if (run !== undefined) {
      if (!runIdPattern.test(run)) {
        throw new HubError('INVALID_REQUEST', 'X-Quartermaster-Run must be 1 to 64 of A-Z, a-z, 0-9, "_" and "-".');
      }
      return hub.callerFor({ ...identity, run });
    }
    let caller = callers.get(identity);
    if (caller === undefined) {
      caller = hub.callerFor(identity);
      callers.set(identity, caller);
    }
    return caller;
  }

  return {
    handle,
    get clientSessions() {
      return sessions.size;
    },
    close() {
      forgetTokens();
      announcer.close();
      subscriptions.close();
      parked.close();
      sessions.close();
    },
  };
}

function unauthenticated(sentSomething: boolean): HubError {
  const what = sentSomething ? 'The token is not valid, has expired or was revoked.' : 'A token is missing.';
  return new HubError('UNAUTHENTICATED', what, {
    hint: 'Send "Authorization: Bearer <token>"; an operator gets one with `qm token issue --agent NAME`.',
  });
}

/** The trace that a request names in its headers is that of each message in it. */
function bodyOf(text: string, { traceparent, tracestate }: KnownHeaders): Body {
  const body = readBody(text);
  if (traceparent === undefined) return body;
  return { ...body, messages: body.messages.map((message) => inTrace(message, traceparent, tracestate)) };
}

function mirroredHeaders(headers: KnownHeaders): MirroredHeaders {
  return {
    protocolVersion: headers['mcp-protocol-version'],
    method: headers['mcp-method'],
    name: headers['mcp-name'],
  };
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  return contentType !== undefined && /^application\/json(?:\s*;|\s*$)/i.test(contentType);
}

function notAllowed(response: ServerResponse, allowed: string): void {
  sendStatus(response, 405, ['allow', allowed]);
}
