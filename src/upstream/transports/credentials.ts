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
  const flat = new WeakMap<object, readonly string[]>();
  return {
    headersFor(transport) {
      const { headers } = (current && findRemote(current(), transport)) ?? transport;
      let all = flat.get(headers);
      if (all === undefined) {
        all = Object.entries(headers).flat();
        flat.set(headers, all);
      }
      return all;
    },
  };
}

/** The implied older transport uses the headers of the Streamable HTTP address. */
function findRemote(spec: ServerSpec, { type, url }: RemoteTransportSpec): RemoteTransportSpec | undefined {
  const there = [spec.transport, ...spec.fallbacks].filter((each) => each.type === 'http' || each.type === 'sse');
  const atUrl = there.filter((each) => each.url === url);
  return atUrl.find((each) => each.type === type) ?? atUrl[0];
}
