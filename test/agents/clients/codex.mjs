import { writeText } from './write-config.mjs';

const common = {
  listsAgain: false,
  program: { script: '@openai/codex/bin/codex.js' },

  async setUp({ home, model, prompt, config }) {
    await writeText(home, '.codex/config.toml', [...providerLines(model), config].join('\n'));
    return startWith(prompt);
  },
};

/** Waits for its servers before the first turn. */
export const codex = {
  ...common,
  name: 'codex',
  title: 'Codex',
  /** ~/.codex/config.toml */
  config: (server) => configText('hub', [...entry(server), 'required = true', 'startup_timeout_sec = 30']),

  /** With the files as they are, and a server of its own. */
  connected: {
    tools: { hub: 'parrot_echo', direct: 'echo' },
    files: ['home/.codex/config.toml'],
    async setUp({ home, model, prompt, server }) {
      const direct = configText('parrot', [...entry(server), 'required = true', 'startup_timeout_sec = 30']);
      await writeText(home, '.codex/config.toml', [...providerLines(model), direct].join('\n'));
      return startWith(prompt);
    },
  },
};

/** As it is without these settings: its first turn has the tools that came within a second. */
export const codexOptional = {
  ...common,
  name: 'codex-optional',
  title: 'Codex, not required',
  takesFirstTurnWithout: true,
  config: (server) => configText('hub', entry(server)),
};

function providerLines(model) {
  return [
    'model = "scripted"',
    'model_provider = "scripted"',
    '',
    '[model_providers.scripted]',
    'name = "scripted"',
    `base_url = "${model.url}/v1"`,
    'wire_api = "responses"',
    '',
  ];
}

function startWith(prompt) {
  return { args: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt], env: {} };
}

function configText(name, lines) {
  return [`[mcp_servers.${name}]`, ...lines, ''].join('\n');
}

function entry({ url, command, args }) {
  if (url !== undefined) return [`url = "${url}"`, 'bearer_token_env_var = "QM_TOKEN"'];
  return [`command = ${JSON.stringify(command)}`, `args = ${JSON.stringify(args)}`];
}
