import { readdir } from 'node:fs/promises';

/** Files at the top of the workspace that seem to configure MCP servers. Called only if none was read. */
export async function findUnreadFiles(workspace: string): Promise<readonly string[]> {
  const names = await readdir(workspace).catch((): string[] => []);
  return names.filter((name) => telling.test(name)).sort();
}

/** `mcp.json`, `servers.mcp.yaml`, `claude_desktop_config.json`. */
const telling = /^claude_desktop_config[\w.-]*\.json$|^(?:[\w.-]*[._-])?mcp(?:[._-][\w.-]*)?\.(?:jsonc?|ya?ml|toml)$/i;
