/** What an agent reads of a server, as policies say it: `resource:<uri>` or `prompt:<name>`, in the server's own words. */
export function isReadingName(text: string): boolean {
  return text.startsWith(resourcePrefix) || text.startsWith('prompt:');
}

export const resourcePrefix = 'resource:';

/** A server may call a tool `resource:x`; what is said of resources must not let it through. */
export function toolSubject(tool: string): string {
  return isReadingName(tool) ? `tool:${tool}` : tool;
}

/** Every way people may write it in a list. */
export function readingSpellings(server: string, subject: string): readonly string[] {
  return [subject, `${server}.${subject}`];
}

/**
 * Whether an entry of an include list gives more than tools: `*`, or one that says `resource:` or `prompt:`. Whoever
 * wrote `*file*` thought of tools, and every `resource:file:///` would fit it.
 */
export function includesReadings(entry: string, server: string): boolean {
  const own = entry.startsWith(`${server}.`) ? entry.slice(server.length + 1) : entry;
  return own === '*' || isReadingName(own);
}

/** The URI, or pattern of URIs, that an entry of a list speaks of; undefined where it speaks of no resource. */
export function resourceUriOf(entry: string, server: string): string | undefined {
  const own = entry.startsWith(`${server}.`) ? entry.slice(server.length + 1) : entry;
  if (own.startsWith(resourcePrefix)) return own.slice(resourcePrefix.length);
  const star = own.indexOf('*');
  if (star < 0) return undefined;
  // The star may stand for `resource:` and more.
  const inside = own.indexOf(resourcePrefix, star);
  if (inside >= 0) return own.slice(inside + resourcePrefix.length);
  return resourcePrefix.startsWith(own.slice(0, star)) ? own.slice(star) : undefined;
}
