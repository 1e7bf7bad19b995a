import { writeJson } from './write-config.mjs';

export const gemini = {
  name: 'gemini',
  title: 'Gemini CLI',
  program: { script: '@google/gemini-cli/bundle/gemini.js' },

  /** ~/.gemini/settings.json */
  config: (server) => ({ mcpServers: { hub: entry(server) } }),

  async setUp({ home, model, prompt, config }) {
    await writeJson(home, '.gemini/settings.json', { ...config, ...settings });
    return startWith(model, prompt);
  },

  /** With the files as they are, and a server of its own. */
  connected: {
    tools: { hub: 'mcp_hub_parrot_echo', direct: 'mcp_parrot_echo' },
    files: ['work/.gemini/settings.json', 'home/.gemini/settings.json'],
    async setUp({ home, work, model, prompt, server }) {
      await writeJson(home, '.gemini/settings.json', settings);
      await writeJson(work, '.gemini/settings.json', { mcpServers: { parrot: entry(server) } });
      return startWith(model, prompt);
    },
  },
};

const settings = {
  general: { enableAutoUpdate: false },
  privacy: { usageStatisticsEnabled: false },
  security: { auth: { selectedType: 'gemini-api-key' } },
};

function startWith(model, prompt) {
  return {
    args: ['-p', prompt, '--yolo', '-m', 'gemini-2.5-flash'],
    env: {
      GEMINI_API_KEY: 'none',
      GOOGLE_GEMINI_BASE_URL: model.url,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    },
  };
}

function entry({ url, command, args }) {
  if (url === undefined) return { command, args };
  return { httpUrl: url, headers: { Authorization: `Bearer \${QM_TOKEN}` } };
}
