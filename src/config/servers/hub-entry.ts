import { basename } from 'node:path';
import type { ConfiguredServer } from '../../domain/index.ts';
import type { ServerDraft, TransportDraft, WrittenText } from './server-draft.ts';

/**
 * Whether an entry leads to a hub: by `qm stdio`, by the usual address, or by an agent's token. A client that uses the
 * hub has such an entry in its own file. If it became a server, the hub would start and list itself endlessly.
 */
export function leadsToHub({ body }: ServerDraft, resolved: ConfiguredServer): boolean {
  if (body === undefined) return false;
  return startsHub(body.transport) || isAddressOfHub(body.transport) || hasAgentToken(resolved);
}

function startsHub(transport: TransportDraft): boolean {
  if (transport.type !== 'stdio') return false;
  const words = [transport.command, ...transport.args].map(({ text }) => text);
  const program = words.findIndex((word) => /^(?:qm|quartermaster)(?:@.*)?$/.test(basename(word)));
  return program >= 0 && words.includes('stdio', program);
}

/**
 * The default port of `qm serve`: the client may keep the token to itself, so the address alone must suffice. Or the
 * variable that `qm connect` writes, which the hub itself does not have.
 */
function isAddressOfHub(transport: TransportDraft): boolean {
  if (transport.type !== 'http' && transport.type !== 'sse') return false;
  const isUsual = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):4680\/(?:mcp|sse)\/?$/.test(transport.url.text);
  return isUsual || [...transport.headers].some(([name, at]) => /^authorization$/i.test(name) && namesToken(at));
}

/** `Bearer` and the variable, in the way of whichever client. */
function namesToken({ text, template }: WrittenText): boolean {
  if (template?.kind !== 'template') return /^Bearer \$?\{(?:env:)?QM_TOKEN(?:_[A-Z0-9_]+)?\}$/.test(text);
  return template.parts.some((part) => part.kind === 'required' && /^QM_TOKEN(?:_[A-Z0-9_]+)?$/.test(part.name));
}

function hasAgentToken(server: ConfiguredServer): boolean {
  if (server.kind !== 'ready') return false;
  const { transport } = server.spec;
  if (transport.type !== 'http' && transport.type !== 'sse') return false;
  return Object.entries(transport.headers).some(
    ([name, value]) => /^authorization$/i.test(name) && /^Bearer qm_/.test(value),
  );
}
