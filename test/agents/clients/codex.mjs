import { writeText } from './write-config.mjs';

export const codex = {
  name: 'codex',
  title: 'Codex',
  program: { script: '@openai/codex/bin/codex.js' },

  /** ~/.codex/config.toml */
  config: (server) => ['[mcp_servers.hub]', ...entry(server), ''].join('\n'),

  async setUp({ home, model, prompt, config }) {
    const provider = [
      'model = "scripted"',
      'model_provider = "scripted"',
      '',
      '[model_providers.scripted]',
      'name = "scripted"',
      `base_url = "${model.url}/v1"`,
      'wire_api = "responses"',
      '',
    ];
    await writeText(home, '.codex/config.toml', [...provider, config].join('\n'));
    return {
      args: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
      env: {},
    };
  },
};

function entry({ url, command, args }) {
  if (url !== undefined) return [`url = "${url}"`, 'bearer_token_env_var = "QM_TOKEN"'];
  return [`command = ${JSON.stringify(command)}`, `args = ${JSON.stringify(args)}`];
}
