import { writeJson } from './write-config.mjs';

export const opencode = {
  name: 'opencode',
  title: 'OpenCode',
  program: { file: `opencode-${process.platform}-${process.arch}/bin/opencode` },

  /** opencode.json */
  config: (server) => ({ mcp: { hub: entry(server) } }),

  async setUp({ work, model, prompt, config }) {
    await writeJson(work, 'opencode.json', { ...config, ...settingsFor(model) });
    return { args: ['run', prompt], env };
  },

  /** With the files as they are, and a server of its own. */
  connected: {
    tools: { hub: 'hub_parrot_echo', direct: 'parrot_echo' },
    files: ['work/opencode.json', 'home/.config/opencode/opencode.json'],
    async setUp({ home, work, model, prompt, server }) {
      await writeJson(home, '.config/opencode/opencode.json', settingsFor(model));
      await writeJson(work, 'opencode.json', { mcp: { parrot: entry(server) } });
      return { args: ['run', prompt], env };
    },
  },
};

const env = {
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
};

function settingsFor(model) {
  const provider = {
    npm: '@ai-sdk/openai-compatible',
    options: { baseURL: `${model.url}/v1`, apiKey: 'none' },
    models: { scripted: {} },
  };
  return {
    provider: { scripted: provider },
    model: 'scripted/scripted',
    small_model: 'scripted/scripted',
    permission: 'allow',
  };
}

function entry({ url, command, args }) {
  if (url === undefined) return { type: 'local', command: [command, ...args] };
  return { type: 'remote', url, oauth: false, headers: { Authorization: 'Bearer {env:QM_TOKEN}' } };
}
