import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { agentEntries, rules } from './agents.mjs';
import { guest, servers, upstreamArgs } from './servers.mjs';

/**
 * A workspace for the soak. Some servers are in `.mcp.json` and all rules in `quartermaster.yaml`, so that a hub which
 * forgot the second file would open the first.
 */
export function createWorkspace({ clientSessionIdleSeconds }) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'qm-soak-')));
  const folder = join(base, 'workspace');
  const executed = join(base, 'executed.jsonl');
  mkdirSync(folder);
  writeFileSync(executed, '');
  writeFileSync(join(folder, 'README.md'), 'The soak was here.\n');
  // Not what the hub writes while it runs.
  writeFileSync(join(folder, '.gitignore'), '.runs/\n');
  const git = (...args) => execFileSync('git', args, { cwd: folder, stdio: 'ignore', env: gitEnv(base) });
  git('init', '-q');
  git('add', 'README.md');
  git('commit', '-qm', 'Begin');

  const replace = (file, text) => {
    writeFileSync(join(base, 'next'), text);
    renameSync(join(base, 'next'), join(folder, file));
  };

  return {
    base,
    folder,
    executed,
    stateFolder: join(base, 'state'),
    replace,
    /** @param {{ urls: Record<string, string>, toggled: 'allow' | 'deny', guest: boolean, turn: number }} state */
    textsFor: (state) => ({
      'quartermaster.yaml': stringify(settings(state, executed, clientSessionIdleSeconds)),
      '.mcp.json': JSON.stringify({ mcpServers: entriesIn('.mcp.json', state, executed) }, undefined, 2),
    }),
    remove: () => rmSync(base, { recursive: true, force: true, maxRetries: 5 }),
  };
}

function settings(state, executed, clientSessionIdleSeconds) {
  const guestEntry = state.guest ? { guest: entryOf('guest', guest, state, executed) } : {};
  return {
    version: 1,
    servers: { ...entriesIn(undefined, state, executed), ...guestEntry },
    agents: agentEntries,
    policies: { tools: { ...rules, ...(state.toggled === 'deny' ? { '*.toggled': 'deny' } : {}) } },
    // Nobody decides, so nobody should wait for long.
    approvals: { wait: '1s' },
    serve: { clientSessionIdle_s: clientSessionIdleSeconds },
  };
}

function entriesIn(file, state, executed) {
  const chosen = Object.entries(servers).filter(([, server]) => server.file === file);
  return Object.fromEntries(chosen.map(([name, server]) => [name, entryOf(name, server, state, executed)]));
}

function entryOf(name, server, state, executed) {
  if (server.builtin) return server.entry;
  if (server.http) return { url: state.urls[name], ...server.entry };
  const args = [...upstreamArgs(name, server, executed), '--stdio'];
  // A change of the environment is another program: the hub has to start it anew.
  const env = name === 'garbage' ? { env: { TURN: String(state.turn) } } : {};
  return { command: process.execPath, args, ...env, ...server.entry };
}

function gitEnv(home) {
  const who = { NAME: 'soak', EMAIL: 'soak@example.com' };
  const names = Object.entries(who).flatMap(([key, value]) => [
    [`GIT_AUTHOR_${key}`, value],
    [`GIT_COMMITTER_${key}`, value],
  ]);
  return { PATH: process.env.PATH, HOME: home, ...Object.fromEntries(names) };
}
