import { writeJson } from './write-config.mjs';

export const copilot = {
  name: 'copilot',
  title: 'Copilot CLI',
  program: { script: '@github/copilot/npm-loader.js' },

  /** ~/.copilot/mcp-config.json */
  config: (server) => ({ mcpServers: { hub: entry(server) } }),

  async setUp({ home, model, prompt, config }) {
    await writeJson(home, '.copilot/mcp-config.json', config);
    return startWith(model, prompt);
  },

  /** With the files as they are, and a server of its own. */
  connected: {
    tools: { hub: 'hub-work-parrot_echo', direct: 'parrot-echo' },
    files: ['home/.copilot/mcp-config.json'],
    async setUp({ home, model, prompt, server }) {
      await writeJson(home, '.copilot/mcp-config.json', { mcpServers: { parrot: entry(server) } });
      return startWith(model, prompt);
    },
  },
};

function startWith(model, prompt) {
  return {
    args: ['-p', prompt, '--allow-all-tools'],
    env: {
      COPILOT_OFFLINE: 'true',
      COPILOT_PROVIDER_BASE_URL: `${model.url}/v1`,
      COPILOT_MODEL: 'gpt-4.1',
    },
  };
}

function entry({ url, command, args }) {
  if (url === undefined) return { type: 'local', command, args, tools: ['*'] };
  return { type: 'http', url, headers: { Authorization: `Bearer \${QM_TOKEN}` }, tools: ['*'] };
}
