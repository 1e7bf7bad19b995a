import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../upstream.mjs', import.meta.url));

/** What each server is: how it is reached, how it behaves, what stands in the configuration, which failures are its own. */
export const servers = {
  plain: { era: 'legacy', file: '.mcp.json' },
  crashes: { era: 'legacy', manner: 'crashes', file: '.mcp.json', fails: ['UPSTREAM_LOST', 'UPSTREAM_UNAVAILABLE'] },
  cached: { era: 'modern', entry: { cache: { ttl_s: 5, tools: ['lookup'] } } },
  limited: { era: 'legacy', entry: { limits: { rate_per_min: 120 } }, fails: ['RATE_LIMITED'] },
  floods: { era: 'legacy', manner: 'floods', entry: { shared: true } },
  garbage: { era: 'legacy', manner: 'garbage' },
  asks: { era: 'legacy', entry: { isolation: 'per-session', roots: 'client' }, asks: true, fails: ['OVERLOADED'] },
  'asks-modern': { era: 'modern', entry: { roots: 'client' }, asks: true },
  slow: {
    era: 'legacy',
    http: true,
    entry: { limits: { timeout_s: 2, concurrency: 16 } },
    fails: ['UPSTREAM_TIMEOUT', 'OVERLOADED'],
  },
  own: {
    era: 'legacy',
    http: true,
    entry: { isolation: 'per-agent', roots: 'client' },
    asks: true,
    fails: ['OVERLOADED'],
  },
  hangs: {
    era: 'modern',
    http: true,
    manner: 'hangs',
    entry: { limits: { timeout_s: 2 } },
    fails: ['UPSTREAM_TIMEOUT'],
  },
  large: { era: 'modern', http: true, entry: { shared: true } },
  git: { builtin: true, entry: { builtin: 'git', args: ['--repository', '.'] } },
};

/** Comes and goes with the configuration. */
export const guest = { era: 'legacy' };

export const serverNames = Object.keys(servers);
/** Those that run our program, and so write down what they executed. */
export const ownNames = serverNames.filter((name) => !servers[name].builtin);
export const httpNames = serverNames.filter((name) => servers[name].http);
export const stdioNames = ownNames.filter((name) => !servers[name].http);

export function upstreamArgs(label, { era, manner = 'plain' }, executed) {
  return [program, '--label', label, '--era', era, '--manner', manner, '--executed', executed];
}

const tools = ['echo', 'lookup', 'write', 'secret', 'danger', 'toggled', 'nap', 'steps', 'big', 'mine', 'touch'];
const questionTools = ['ask_form', 'ask_url', 'ask_sampling', 'ask_roots', 'ask_twice'];

export const upstreamTools = [...tools, ...questionTools];
export const gitTools = ['git_status', 'git_diff', 'git_log', 'git_show', 'git_blame', 'git_search'];
export const upstreamPrompts = ['plain', 'greet'];
