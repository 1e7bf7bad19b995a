/**
 * Legacy revisions begin with an `initialize` handshake; modern ones carry their metadata with
 * each request and know no sessions.
 */
export type Era = 'legacy' | 'modern';

export const modernVersion = '2026-07-28';
export const modernVersions: readonly string[] = [modernVersion];

/** Newest first: the first entry is offered when a peer asks for something unknown. */
export const legacyVersions: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26'];

/** Over a connection that carries messages both ways, which came first, the first revision is spoken too. */
export const legacyConnectionVersions: readonly string[] = [...legacyVersions, '2024-11-05'];

/** Revisions that upstream servers may still answer with. */
export const legacyUpstreamVersions: readonly string[] = [...legacyConnectionVersions, '2024-10-07'];

/** Revisions are dates, so their order is the order of their text. */
export function isModernVersion(version: string): boolean {
  return version >= modernVersion && /^\d{4}-\d{2}-\d{2}$/.test(version);
}

/** What a legacy `initialize` is answered with. */
export function negotiateLegacy(requested: unknown, versions: readonly string[] = legacyVersions): string {
  const known = typeof requested === 'string' && versions.includes(requested);
  return known ? requested : (versions[0] as string); // no list is empty
}

export const metaKeys = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
} as const;
