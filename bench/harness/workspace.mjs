import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const echoProgram = fileURLToPath(new URL('../echo-stdio.mjs', import.meta.url));

/** An upstream over pipes with that many tools, as it stands in a configuration. */
export function stdioServer(tools = 10) {
  return { command: process.execPath, args: [echoProgram], env: { TOOLS: String(tools) } };
}

export function httpServer(url) {
  return { url };
}

/**
 * A workspace as somebody would have it: agents with routes, rules of both sources, journal and run files as they
 * are by default. `rules` and `agents` add that many more of each, none of which concerns the calls that are made.
 */
export function writeWorkspace(folder, { servers, rules = 0, agents = 0, clientSessionIdleSeconds = 1800 }) {
  mkdirSync(folder, { recursive: true });
  const names = Object.keys(servers);
  const settings = {
    version: 1,
    servers,
    agents: {
      bench: { servers: names, policies: { tools: { 'echo.admin_*': 'deny' } } },
      ...moreAgents(agents, names),
    },
    policies: { tools: { ...fewRules, ...moreRules(rules) } },
    serve: { clientSessionIdle_s: clientSessionIdleSeconds },
  };
  writeFileSync(join(folder, 'quartermaster.yaml'), yaml(settings));
}

const fewRules = {
  '*.delete_*': 'deny',
  '*.drop_*': 'deny',
  'echo.write_*': 'require-approval',
  'echo.shutdown': 'deny',
  'echo.*': 'allow',
};

/** Exact names, patterns for one server and patterns for all, in turn. */
function moreRules(count) {
  const patterns = [(i) => `echo.unused_${i}`, (i) => `echo.never_${i}_*`, (i) => `*.absent_${i}`];
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [patterns[i % 3](i), i % 2 ? 'deny' : 'allow']));
}

function moreAgents(count, servers) {
  return Object.fromEntries(
    Array.from({ length: count }, (_, i) => [
      `agent-${i}`,
      { servers, policies: { tools: { [`echo.private_${i}`]: 'deny' } } },
    ]),
  );
}

/** Block style, one entry a line, as people write it. */
function yaml(value, indent = '') {
  if (typeof value !== 'object') return ` ${JSON.stringify(value)}\n`;
  if (Array.isArray(value)) return ` ${JSON.stringify(value)}\n`;
  const lines = Object.entries(value).map(
    ([key, member]) => `${indent}${JSON.stringify(key)}:${yaml(member, `${indent}  `)}`,
  );
  return indent === '' ? lines.join('') : `\n${lines.join('')}`;
}
