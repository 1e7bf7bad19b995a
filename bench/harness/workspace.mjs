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
 * are by default. `rules` and `agents` add that many more of each, none of which concerns the calls that are made. Of
 * `argumentRules`, four look at the argument of these calls; `shadow` tries the same rules again.
 */
export function writeWorkspace(folder, settings) {
  const {
    servers,
    rules = 0,
    agents = 0,
    argumentRules = 0,
    shadow = false,
    clientSessionIdleSeconds = 1800,
  } = settings;
  mkdirSync(folder, { recursive: true });
  const names = Object.keys(servers);
  const tools = { ...fewRules, ...moreRules(rules), ...rulesOnArguments(argumentRules) };
  const written = {
    version: 1,
    servers,
    agents: {
      bench: { servers: names, policies: { tools: { 'echo.admin_*': 'deny' } } },
      ...moreAgents(agents, names),
    },
    policies: { tools, ...(shadow ? { shadow: { tools } } : {}) },
    serve: { clientSessionIdle_s: clientSessionIdleSeconds },
  };
  writeFileSync(join(folder, 'quartermaster.yaml'), yaml(written));
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

/** A list for the tool that is called, in which nothing but the last clause holds, and rules on other tools. */
function rulesOnArguments(count) {
  if (count === 0) return {};
  const own = [
    { effect: 'deny', when: { message: { prefix: 'rm ' } } },
    { effect: 'deny', when: { message: { regex: '^(drop|delete) ' } } },
    { effect: 'require-approval', when: { message: { glob: 'deploy *' } } },
    { effect: 'deny', when: { message: ['stop', 'quit'] } },
    { effect: 'allow' },
  ];
  const patterns = [(i) => `echo.other_${i}`, (i) => `echo.further_${i}_*`, (i) => `*.none_${i}`];
  // A file may have 50,000 values, and each of these has four.
  const others = Array.from({ length: count - 4 }, (_, i) => [
    patterns[i % 3](i),
    { effect: 'deny', when: { path: `secret-${i}` } },
  ]);
  return { 'echo.echo': own, ...Object.fromEntries(others) };
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
