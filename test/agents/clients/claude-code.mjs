import { writeJson } from './write-config.mjs';

/** The program of the platform's own package: the one of the main package is put there by an install script. */
const program = `@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`;

export const claudeCode = {
  name: 'claude-code',
  title: 'Claude Code',
  program: { file: program },

  /** .mcp.json */
  config: (server) => ({ mcpServers: { hub: entry(server) } }),

  async setUp({ work, model, prompt, config }) {
    const file = await writeJson(work, '.mcp.json', config);
    return {
      args: ['-p', prompt, '--mcp-config', file, '--strict-mcp-config', '--allowedTools', 'mcp__hub'],
      env: envFor(model),
    };
  },

  /** With the files as they are, and a server of its own. */
  connected: {
    tools: { hub: 'mcp__hub__parrot_echo', direct: 'mcp__parrot__echo' },
    files: ['work/.mcp.json'],
    async setUp({ work, model, prompt, server }) {
      await writeJson(work, '.mcp.json', { mcpServers: { parrot: entry(server) } });
      return { args: ['-p', prompt, '--allowedTools', 'mcp__hub', 'mcp__parrot'], env: envFor(model) };
    },
  },
};

function envFor(model) {
  return {
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'none',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    // Otherwise the model gets a search tool in place of the tools of MCP servers.
    ENABLE_TOOL_SEARCH: 'false',
  };
}

function entry({ url, command, args }) {
  if (url === undefined) return { command, args };
  return { type: 'http', url, headers: { Authorization: `Bearer \${QM_TOKEN}` } };
}
