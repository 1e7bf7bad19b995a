import { createHash } from 'node:crypto';

/** What stands for a server in URIs. Given in the order in which servers are named here; two never share one. */
export interface ServerLabels {
  of(server: string): string;
  serverOf(namespace: string): string | undefined;
}

export function createServerLabels(): ServerLabels {
  const namespaces = new Map<string, string>();
  const servers = new Map<string, string>();
  return {
    of(server) {
      let namespace = namespaces.get(server);
      if (namespace === undefined) {
        namespace = freeNamespace(server, servers);
        namespaces.set(server, namespace);
        servers.set(namespace, server);
      }
      return namespace;
    },
    serverOf: (namespace) => servers.get(namespace),
  };
}

/** It may begin a scheme or be a host: it begins with a letter and has no capitals. */
function freeNamespace(server: string, taken: ReadonlyMap<string, string>): string {
  const cleaned = server.toLowerCase().replace(/[^a-z0-9.-]/g, '-');
  const plain = /^[a-z]/.test(cleaned) ? cleaned : `s-${cleaned}`;
  let namespace = plain;
  for (let attempt = 0; taken.has(namespace); attempt++) {
    const hash = createHash('sha256').update(`${server}\0${attempt}`).digest('hex').slice(0, 6);
    namespace = `${plain}-${hash}`;
  }
  return namespace;
}
