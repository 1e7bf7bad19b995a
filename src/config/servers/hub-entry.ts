import { basename } from 'node:path';
import type { ConfiguredServer } from '../../domain/index.ts';
import type { ServerDraft, TransportDraft } from './server-draft.ts';

/**
 * Whether an entry leads to a hub: by `qm stdio`, by the usual address, or by an agent's token. A client that uses the
 * hub has such an entry in its own file. If it became a server, the hub would start and list itself endlessly.
 */
export function leadsToHub({ body }: ServerDraft, resolved: ConfiguredServer): boolean {
  if (body === undefined) return false;
  return startsHub(body.transport) || isUsualAddress(body.transport) || hasAgentToken(resolved);
}

function startsHub(transport: TransportDraft): boolean {
  if (transport.type !== 'stdio') return false;
  const words = [transport.command, ...transport.args].map(({ text }) => text);
  const program = words.findIndex((word) => /^(?:qm|quartermaster)(?:@.*)?$/.test(basename(word)));
  return program >= 0 && words.includes('stdio', program);
}

/** The default port of `qm serve`. The client may keep the token to itself, so the address alone must suffice. */
function isUsualAddress(transport: TransportDraft): boolean {
  if (transport.type !== 'http' && transport.type !== 'sse') return false;
  return /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):4680\/(?:mcp|sse)\/?$/.test(transport.url.text);
}

function hasAgentToken(server: ConfiguredServer): boolean {
  if (server.kind !== 'ready') return false;
  const { transport } = server.spec;
  if (transport.type !== 'http' && transport.type !== 'sse') return false;
  return Object.entries(transport.headers).some(
    ([name, value]) => /^authorization$/i.test(name) && /^Bearer qm_/.test(value),
  );
}
