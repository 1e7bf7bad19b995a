export interface QualifiedToolName {
  readonly server: string;
  readonly tool: string;
}

/**
 * Every way to split `server.tool`, as users and policies write it, into a configured server and a tool; the longest
 * server name first. Both names may contain dots, so `a.b.c` can mean tool `b.c` of `a` and tool `c` of `a.b`.
 */
export function splitsOfToolName(text: string, servers: { has(name: string): boolean }): readonly QualifiedToolName[] {
  const splits: QualifiedToolName[] = [];
  for (let dot = text.lastIndexOf('.', longestServerName); dot > 0; dot = text.lastIndexOf('.', dot - 1)) {
    const server = text.slice(0, dot);
    const tool = text.slice(dot + 1);
    if (tool !== '' && servers.has(server)) splits.push({ server, tool });
  }
  return splits;
}

/** The split with the longest server name. It does for messages; rules must consider every split. */
export function splitToolName(text: string, servers: { has(name: string): boolean }): QualifiedToolName | undefined {
  return splitsOfToolName(text, servers)[0];
}

/** The maximum length of a server name in the configuration. No dot after it can end a server's name. */
const longestServerName = 64;
