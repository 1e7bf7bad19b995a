/**
 * Legacy protocol versions begin with an `initialize` handshake. Modern ones carry their metadata in each request and
 * have no sessions.
 */
export type Era = 'legacy' | 'modern';

export const modernVersion = '2026-07-28';
export const modernVersions: readonly string[] = [modernVersion];

/** Newest first: the first entry answers a request for an unknown version. */
export const legacyVersions: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26'];

/** Bidirectional connections (stdio) predate HTTP, so they also support the first protocol version. */
export const legacyConnectionVersions: readonly string[] = [...legacyVersions, '2024-11-05'];

/** Protocol versions that upstream servers may still answer with. */
export const legacyUpstreamVersions: readonly string[] = [...legacyConnectionVersions, '2024-10-07'];

/** Protocol versions are dates, so they sort as text. */
export function isModernVersion(version: string): boolean {
  return version >= modernVersion && /^\d{4}-\d{2}-\d{2}$/.test(version);
}

/** The version with which to answer a legacy `initialize`. */
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

/** In `_meta` of requests to the hub's own servers alone, which share their turns between agents. */
export const callingAgentKey = 'quartermaster/agent';
