import { createHash } from 'node:crypto';
import type { NameMemory } from './names.ts';

/**
 * The URIs under which agents see resources and templates. A URI stays as its server wrote it; where another server has
 * it already, and where it looks like one of another server, it is seen in its long form `{server}+{uri}`. Who has the
 * short form keeps it as long as the hub lives; where another server wants it, that is remembered for longer.
 */
export interface ResourceNames {
  /** The configured servers, in their order: nobody else's URIs may look like theirs. */
  adopt(servers: Iterable<string>): void;
  /** By the URI or template that the server itself writes. */
  nameOf(server: string, own: string): string;
  /** What a long form stands for; undefined for a URI that is none. */
  readLong(uri: string): { readonly server: string; readonly own: string } | undefined;
}

/** A server that makes up new URIs for ever gets long ones in the end, and takes nobody's room. */
const maxHeld = 20_000;

export function createResourceNames(memory?: NameMemory): ResourceNames {
  const holders = new Map<string, string>();
  const held = new Map<string, number>();
  /** Of those that two servers have, who has the short form is written down. */
  const remembered = new Set<string>();
  const schemes = new Map<string, string>();
  const servers = new Map<string, string>();
  for (const { server, own } of memory?.given ?? []) if (take(server, own)) remembered.add(own);

  function schemeOf(server: string): string {
    let scheme = schemes.get(server);
    if (scheme === undefined) {
      scheme = freeScheme(server, servers);
      schemes.set(server, scheme);
      servers.set(scheme, server);
    }
    return scheme;
  }

  function readLong(uri: string): { readonly server: string; readonly own: string } | undefined {
    const plus = uri.indexOf('+');
    // No scheme holds a plus of its own. Clients may write schemes in capitals, and some change them to small letters.
    const server = plus < 0 ? undefined : servers.get(uri.slice(0, plus).toLowerCase());
    return server === undefined ? undefined : { server, own: uri.slice(plus + 1) };
  }

  function holds(server: string, own: string): boolean {
    const holder = holders.get(own);
    if (holder === undefined) return take(server, own);
    if (holder !== server && !remembered.has(own)) {
      remembered.add(own);
      memory?.remember({ server: holder, own, name: own });
    }
    return holder === server;
  }

  function take(server: string, own: string): boolean {
    const count = held.get(server) ?? 0;
    if (count >= maxHeld) return false;
    holders.set(own, server);
    held.set(server, count + 1);
    return true;
  }

  return {
    adopt(configured) {
      for (const server of configured) schemeOf(server);
    },
    nameOf: (server, own) => (readLong(own) === undefined && holds(server, own) ? own : `${schemeOf(server)}+${own}`),
    readLong,
  };
}

/** A scheme begins with a letter and has no capitals in its usual form; two servers never share one. */
function freeScheme(server: string, taken: ReadonlyMap<string, string>): string {
  const cleaned = server.toLowerCase().replace(/[^a-z0-9.-]/g, '-');
  const plain = /^[a-z]/.test(cleaned) ? cleaned : `s-${cleaned}`;
  let scheme = plain;
  for (let attempt = 0; taken.has(scheme); attempt++) {
    const hash = createHash('sha256').update(`${server}\0${attempt}`).digest('hex').slice(0, 6);
    scheme = `${plain}-${hash}`;
  }
  return scheme;
}
