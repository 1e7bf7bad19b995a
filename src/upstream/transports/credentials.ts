import type { HttpTransportSpec, ServerSpec, SseTransportSpec } from '../../domain/index.ts';

export type RemoteTransportSpec = HttpTransportSpec | SseTransportSpec;

/**
 * The headers that authenticate the hub. A transport asks for each request, so that a changed credential needs no
 * new connection.
 */
export interface Credentials {
  /** Names and values alternate. The same array as long as nothing changed. */
  headersFor(transport: RemoteTransportSpec): readonly string[];
}

/** The configured headers: the current ones if known, otherwise those of the transport. */
export function configuredCredentials(current?: () => ServerSpec): Credentials {
  /** For each transport, the headers that the latest specification gives it. */
  const known = new WeakMap<RemoteTransportSpec, KnownHeaders>();
  return {
    headersFor(transport) {
      const spec = current?.();
      const last = known.get(transport);
      if (last !== undefined && last.spec === spec) return last.flat;
      const { headers } = (spec && findRemote(spec, transport)) ?? transport;
      const flat = last?.headers === headers ? last.flat : Object.entries(headers).flat();
      known.set(transport, { spec, headers, flat });
      return flat;
    },
  };
}

interface KnownHeaders {
  readonly spec: ServerSpec | undefined;
  readonly headers: RemoteTransportSpec['headers'];
  readonly flat: readonly string[];
}

/** The implied older transport uses the headers of the Streamable HTTP address. */
function findRemote(spec: ServerSpec, { type, url }: RemoteTransportSpec): RemoteTransportSpec | undefined {
  const there = [spec.transport, ...spec.fallbacks].filter((each) => each.type === 'http' || each.type === 'sse');
  const atUrl = there.filter((each) => each.url === url);
  return atUrl.find((each) => each.type === type) ?? atUrl[0];
}
