import type { ToolReference } from '../../call.ts';

/**
 * The servers that a text like `server.tool` may mean. Names may contain dots: if a text can be split in two ways, the
 * longer server name comes first.
 */
export function serversNamed(subject: string, servers: Iterable<string>): readonly string[] {
  if (!subject.includes('.')) return [];
  return [...servers].filter((server) => subject.startsWith(`${server}.`)).sort((a, b) => b.length - a.length);
}

export function toReference(subject: string, servers: Iterable<string>): ToolReference | undefined {
  const [server] = serversNamed(subject, servers);
  return server === undefined ? undefined : { server, tool: subject.slice(server.length + 1) };
}
