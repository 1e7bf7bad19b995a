/** Whether a policy name is `resource:<uri>` or `prompt:<name>`, by the server's own names. */
export function isReadName(text: string): boolean {
  return text.startsWith(resourcePrefix) || text.startsWith('prompt:');
}

export const resourcePrefix = 'resource:';

/** A server may name a tool `resource:x`. Rules on resources must not allow it. */
export function toolSubject(tool: string): string {
  return isReadName(tool) ? `tool:${tool}` : tool;
}

/** The spellings of a resource or prompt in a list. */
export function readSpellings(server: string, subject: string): readonly string[] {
  return [subject, `${server}.${subject}`];
}

/**
 * Whether an entry of an include list covers more than tools: `*`, or one with `resource:` or `prompt:`. The author of
 * `*file*` meant tools, although every `resource:file:///` would match it.
 */
export function includesReads(entry: string, server: string): boolean {
  const own = entry.startsWith(`${server}.`) ? entry.slice(server.length + 1) : entry;
  return own === '*' || isReadName(own);
}

/** The URI or URI pattern of a list entry. Undefined if the entry is not about resources. */
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
