import { writeJson } from './write-config.mjs';

export const opencode = {
  name: 'opencode',
  title: 'OpenCode',
  program: { file: `opencode-${process.platform}-${process.arch}/bin/opencode` },

  /** opencode.json */
  config: (server) => ({ mcp: { hub: entry(server) } }),

  async setUp({ work, model, prompt, config }) {
    const provider = {
      npm: '@ai-sdk/openai-compatible',
      options: { baseURL: `${model.url}/v1`, apiKey: 'none' },
      models: { scripted: {} },
    };
    await writeJson(work, 'opencode.json', {
      ...config,
      provider: { scripted: provider },
      model: 'scripted/scripted',
      small_model: 'scripted/scripted',
      permission: 'allow',
    });
    return {
      args: ['run', prompt],
      env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' },
    };
  },
};

function entry({ url, command, args }) {
  if (url === undefined) return { type: 'local', command: [command, ...args] };
  return { type: 'remote', url, oauth: false, headers: { Authorization: 'Bearer {env:QM_TOKEN}' } };
}
