import type { CallRequest } from '../call.ts';

/**
 * Which servers' user interfaces a client session has read. An app calls tools by its server's own names, and the call
 * does not say which app made it. So only servers whose interface this session has read are candidates.
 */
export interface SessionUis {
  /** The session of this request has read a user interface of the server. */
  read(request: UiRequest, server: string): void;
  /** The servers, the least recently read first. */
  serversOf(request: UiRequest): Iterable<string>;
}

type UiRequest = Pick<CallRequest, 'client' | 'caller'>;

/** The session that read least recently makes room. Sessions of one token never take the room of another token. */
const maxTokens = 4096;
const maxSessions = 64;
const maxServers = 64;

export function createSessionUis(): SessionUis {
  const tokens = new Map<string, Map<string, Set<string>>>();
  return {
    read(request, server) {
      if (request.client === undefined) return;
      const sessions = latest(tokens, tokenOf(request), maxTokens, () => new Map<string, Set<string>>());
      const servers = latest(sessions, sessionOf(request), maxSessions, () => new Set<string>());
      servers.delete(server);
      servers.add(server);
      if (servers.size > maxServers) for (const first of servers) return void servers.delete(first);
    },
    serversOf(request) {
      if (tokens.size === 0 || request.client === undefined) return [];
      return tokens.get(tokenOf(request))?.get(sessionOf(request)) ?? [];
    },
  };
}

function tokenOf({ caller: { tokenId, chain } }: UiRequest): string {
  return tokenId === undefined ? `agent ${chain.join('\0')}` : `token ${tokenId}`;
}

/** Clients of the modern era have no session: a token and a run stand for one. */
function sessionOf({ client, caller }: UiRequest): string {
  return client?.session === undefined ? `run ${caller.run}` : `session ${client.session}`;
}

/** The entry, as the last one in the order of use. */
function latest<T>(entries: Map<string, T>, key: string, most: number, make: () => T): T {
  const entry = entries.get(key) ?? make();
  entries.delete(key);
  entries.set(key, entry);
  if (entries.size > most) {
    const [oldest = key] = entries.keys();
    entries.delete(oldest);
  }
  return entry;
}
