import { writeText } from './write-config.mjs';

const common = {
  listsAgain: false,
  program: { script: '@openai/codex/bin/codex.js' },

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

/** Waits for its servers before the first turn. */
export const codex = {
  ...common,
  name: 'codex',
  title: 'Codex',
  /** ~/.codex/config.toml */
  config: (server) => configText([...entry(server), 'required = true', 'startup_timeout_sec = 30']),
};

/** As it is without these settings: its first turn has the tools that came within a second. */
export const codexOptional = {
  ...common,
  name: 'codex-optional',
  title: 'Codex, not required',
  takesFirstTurnWithout: true,
  config: (server) => configText(entry(server)),
};

function configText(lines) {
  return ['[mcp_servers.hub]', ...lines, ''].join('\n');
}

function entry({ url, command, args }) {
  if (url !== undefined) return [`url = "${url}"`, 'bearer_token_env_var = "QM_TOKEN"'];
  return [`command = ${JSON.stringify(command)}`, `args = ${JSON.stringify(args)}`];
}
