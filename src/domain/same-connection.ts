import { isDeepStrictEqual } from 'node:util';
import type { ServerSpec, TransportSpec } from './configuration.ts';

/**
 * Whether a connection made for one specification serves the other. The values of headers do not matter: they go out with
 * each request. Everything else does, secrets in arguments and variables too: a running program does not see a change.
 */
export function isSameConnection(one: ServerSpec, other: ServerSpec): boolean {
  return isDeepStrictEqual(connectionOf(one), connectionOf(other));
}

function connectionOf({ transport, fallbacks, isolation, roots }: ServerSpec): unknown {
  return [isolation, roots, ...[transport, ...fallbacks].map(withoutHeaderValues)];
}

function withoutHeaderValues(transport: TransportSpec): unknown {
  if (transport.type !== 'http' && transport.type !== 'sse') return transport;
  return { ...transport, headers: Object.keys(transport.headers).sort() };
}
