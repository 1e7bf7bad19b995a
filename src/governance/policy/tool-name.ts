export interface ToolName {
  readonly server: string;
  readonly tool: string;
}

/**
 * Cuts `server.tool` where people and policies write it. Server names may hold dots themselves, so
 * the longest one that is configured wins.
 */
export function splitToolName(text: string, servers: { has(name: string): boolean }): ToolName | undefined {
  for (let dot = text.lastIndexOf('.', longestServerName); dot > 0; dot = text.lastIndexOf('.', dot - 1)) {
    const server = text.slice(0, dot);
    const tool = text.slice(dot + 1);
    if (tool !== '' && servers.has(server)) return { server, tool };
  }
  return undefined;
}

/** As the configuration has it: nothing behind that can end the name of a server. */
const longestServerName = 64;
