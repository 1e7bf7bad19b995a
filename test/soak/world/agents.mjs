import { gitTools, serverNames, upstreamPrompts, upstreamTools } from './servers.mjs';

/** The agents' entries in the configuration. `visitor` has none: it gets what is shared. */
export const agentEntries = {
  lead: { servers: [...serverNames, 'guest'] },
  reader: {
    servers: serverNames,
    tools: { plain: { exclude: ['nap'] } },
    policies: { tools: { '*.write': 'deny' } },
  },
  builder: { servers: ['plain', 'cached', 'limited', 'crashes', 'floods', 'large', 'asks', 'garbage'] },
  tester: {
    servers: ['plain', 'slow', 'hangs', 'own', 'asks-modern', 'git', 'large'],
    tools: { plain: { include: ['echo', 'nap', 'resource:memo://plain/note'] } },
  },
  auditor: { role: 'reader', servers: ['plain', 'git', 'cached', 'own'], tools: { git: { exclude: ['git_log'] } } },
};

export const agentNames = [...Object.keys(agentEntries), 'visitor'];

/** Rules for every agent; `toggled` is denied or not by another one. */
export const rules = {
  '*.secret': 'deny',
  '*.danger': 'require-approval',
  '*.resource:memo://*/private': 'deny',
};

/**
 * What each agent may do, written down by hand and not by the hub's code: `allow`, `ask` or `hidden`. `toggled` and
 * the server `guest` change with the configuration, which is `toggled` and `guest` of `state`.
 */
export function decide(agent, server, tool, state) {
  if (!mayUse(agent, server, state) || tool === 'secret') return 'hidden';
  if (tool === 'toggled' && state.toggled === 'deny') return 'hidden';
  if (!extra(agent, server, tool)) return 'hidden';
  return tool === 'danger' ? 'ask' : 'allow';
}

export function mayRead(agent, server, name, state) {
  if (!mayUse(agent, server, state) || name === 'private') return false;
  return agent === 'tester' && server === 'plain' ? name === 'note' : true;
}

export function mayPrompt(agent, server, state) {
  return mayUse(agent, server, state) && !(agent === 'tester' && server === 'plain');
}

function mayUse(agent, server, state) {
  if (server === 'guest' && !state.guest) return false;
  if (server === 'floods' || server === 'large') return true; // shared
  return agentEntries[agent]?.servers.includes(server) ?? false;
}

function extra(agent, server, tool) {
  if (agent === 'tester' && server === 'plain') return tool === 'echo' || tool === 'nap';
  if (agent === 'reader' || agent === 'auditor') {
    if (tool === 'write' || (server === 'plain' && tool === 'nap')) return false;
  }
  return !(agent === 'auditor' && tool === 'git_log');
}

/** What the agent's lists hold. */
export function expectedLists(agent, state) {
  const names = [...serverNames, 'guest'];
  const tools = names.flatMap((server) =>
    (server === 'git' ? gitTools : upstreamTools)
      .filter((tool) => decide(agent, server, tool, state) !== 'hidden')
      .map((tool) => exposed(server, tool)),
  );
  const upstreams = names.filter((server) => server !== 'git');
  const resources = upstreams.flatMap((server) =>
    ['note', 'private'].filter((name) => mayRead(agent, server, name, state)).map((name) => `memo://${server}/${name}`),
  );
  const prompts = upstreams
    .filter((server) => mayPrompt(agent, server, state))
    .flatMap((server) => upstreamPrompts.map((prompt) => exposed(server, prompt)));
  return { tools, resources, prompts };
}

/** The name under which agents see it: not doubled where it begins with its server's name. */
export function exposed(server, name) {
  return name === server || name.startsWith(`${server}_`) ? name : `${server}_${name}`;
}
