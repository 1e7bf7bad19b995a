import { writeJson } from './write-config.mjs';

export const copilot = {
  name: 'copilot',
  title: 'Copilot CLI',
  program: { script: '@github/copilot/npm-loader.js' },

  /** ~/.copilot/mcp-config.json */
  config: (server) => ({ mcpServers: { hub: entry(server) } }),

  async setUp({ home, model, prompt, config }) {
    await writeJson(home, '.copilot/mcp-config.json', config);
    return {
      args: ['-p', prompt, '--allow-all-tools'],
      env: {
        COPILOT_OFFLINE: 'true',
        COPILOT_PROVIDER_BASE_URL: `${model.url}/v1`,
        COPILOT_MODEL: 'gpt-4.1',
      },
    };
  },
};

function entry({ url, command, args }) {
  if (url === undefined) return { type: 'local', command, args, tools: ['*'] };
  return { type: 'http', url, headers: { Authorization: `Bearer \${QM_TOKEN}` }, tools: ['*'] };
}
