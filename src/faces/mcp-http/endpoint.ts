import type { ServerResponse } from 'node:http';
import { type Clock, createId, type Logger, type RandomBytes } from '../../base/index.ts';
import { createParkedCalls } from '../../calls/index.ts';
import type { Hub } from '../../hub/index.ts';
import { classify, isModernVersion, type MirroredHeaders } from '../../mcp/index.ts';
import { createRounds, invalidMessage, parkedLimits } from '../mcp/index.ts';
import { createAnnouncer } from './announcer.ts';
import { createClientSessions } from './client-sessions.ts';
import type { Exchange } from './exchange.ts';
import type { HttpSession } from './http-session.ts';
import type { KnownHeaders } from './known-headers.ts';
import { createLegacyFace } from './legacy.ts';
import { createModernFace } from './modern.ts';
import type { PlainRequest } from './plain-request.ts';
import { bodyOf, readPosted } from './posted.ts';
import type { Reception } from './reception.ts';
import { refuse, sendStatus } from './response.ts';
import { createSubscriptions } from './subscriptions.ts';
import { WaitingAnswers } from './waiting-answers.ts';

/** `/mcp`: both protocol eras on one address, decided for each request. */
export interface McpEndpoint {
  handle(request: PlainRequest, response: ServerResponse, headers: KnownHeaders): void;
  readonly clientSessions: number;
  /** Ends open streams in the protocol's own way. */
  close(): void;
}

export interface McpEndpointDeps {
  readonly hub: Hub;
  readonly reception: Reception;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: RandomBytes;
}

const maxSubscriptions = 4096;

export function createMcpEndpoint(deps: McpEndpointDeps): McpEndpoint {
  const { hub, reception, clock, logger, random } = deps;
  const { serve } = hub.fleet;
  const sessions = createClientSessions<HttpSession>(
    { clock, newId: () => createId(random, 26) },
    { idleMs: serve.clientSessionIdleMs, max: serve.maxClientSessions },
  );
  const subscriptions = createSubscriptions(maxSubscriptions);
  const waiting = new WaitingAnswers();
  const announcer = createAnnouncer({ clock, hub, sessions, subscriptions, waiting, reception, logger });
  const parked = createParkedCalls({ clock, newId: () => createId(random, 26) }, parkedLimits);
  const rounds = createRounds({ hub, parked });
  const legacy = createLegacyFace({
    hub,
    clock,
    sessions,
    revision: () => announcer.revision,
    checkStill: reception.checkStill,
  });
  const modern = createModernFace({ hub, rounds, subscriptions, waiting, logger, checkStill: reception.checkStill });

  // Plain functions and callbacks: an async function for each layer costs more than what the layers do.
  function handle(request: PlainRequest, response: ServerResponse, headers: KnownHeaders): void {
    try {
      const exchange = reception.admit(request, response, headers);
      if (request.method === 'POST') post(exchange);
      else if (isModernVersion(headers['mcp-protocol-version'] ?? '')) notAllowed(response, 'POST');
      else if (request.method === 'GET') legacy.get(exchange);
      else if (request.method === 'DELETE') legacy.remove(exchange);
      else notAllowed(response, 'GET, POST, DELETE');
    } catch (error) {
      refuse(response, error, 'null', logger);
    }
  }

  function post(exchange: Exchange): void {
    readPosted(
      exchange,
      hub.fleet.serve.maxBodyBytes,
      (text) => receive(exchange, text),
      (error) => refuse(exchange.response, error, 'null', logger),
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
      refuse(response, error, idText, logger);
    }
  }

  function attend(response: ServerResponse, work: Promise<void> | undefined, idText: string): void {
    work?.catch((error: unknown) => refuse(response, error, idText, logger));
  }

  return {
    handle,
    get clientSessions() {
      return sessions.size;
    },
    close() {
      announcer.close();
      subscriptions.close();
      parked.close('stopping');
      sessions.close();
    },
  };
}

function mirroredHeaders(headers: KnownHeaders): MirroredHeaders {
  return {
    protocolVersion: headers['mcp-protocol-version'],
    method: headers['mcp-method'],
    name: headers['mcp-name'],
  };
}

function notAllowed(response: ServerResponse, allowed: string): void {
  sendStatus(response, 405, ['allow', allowed]);
}
