import { z } from 'zod';
import { isJsonObject } from '../../../base/index.ts';
import { describeDecision } from '../../../governance/index.ts';
import type { Hub } from '../../../hub/index.ts';
import { problemSchema } from '../../api/index.ts';
import { type AgentTool, type DiscoverTimeout, discoverWithin, toAgentTool } from '../../library/index.ts';
import { strangerNote } from './agent-note.ts';

const effect = z.enum(['allow', 'ask', 'deny']);

/** What `qm tools` shows of an agent. */
export const agentToolsSchema = z.object({
  tools: z.array(
    z.object({
      /** Null: the agent does not see the tool. */
      name: z.string().nullable(),
      server: z.string(),
      tool: z.string(),
      decision: effect,
      /** The kind of reason for the decision. */
      kind: z.string(),
      /** The reason as a sentence. */
      reason: z.string(),
      description: z.string(),
    }),
  ),
  /** Servers that gave no list now. */
  unavailable: z.array(z.object({ name: z.string(), error: z.string().nullable(), known: z.boolean() })),
  /** Servers of the agent that nobody approved. */
  untrusted: z.array(z.string()),
  /** Errors of the configuration, and names in it that the agent's servers do not have. */
  problems: z.array(problemSchema),
  note: z.string().nullable(),
});

export type AgentToolsReport = Readonly<z.infer<typeof agentToolsSchema>>;
type Row = AgentToolsReport['tools'][number];

export interface AgentToolsOptions {
  readonly agent: string;
  /** Ask all servers, not only those of the agent. */
  readonly all: boolean;
  readonly timeout: Omit<DiscoverTimeout, 'limitMs'>;
  /** Called with the servers before they are asked. */
  onAsk(servers: readonly string[]): void;
}

/** Late servers are named. A server that was never discovered may have to be downloaded first. */
const timeoutMs = { seen: 10_000, undiscovered: 30_000 };

/** Asks the servers, then lists what the agent sees and what is hidden from it. */
export async function collectAgentTools(hub: Hub, options: AgentToolsOptions): Promise<AgentToolsReport> {
  const { agent, timeout } = options;
  const servers = routed(hub, options, (state) => !unusable.has(state));
  options.onAsk(servers);
  const undiscovered = hub.status().some(({ name, tools }) => servers.includes(name) && tools === undefined);
  await discoverWithin(hub, servers, {
    ...timeout,
    limitMs: undiscovered ? timeoutMs.undiscovered : timeoutMs.seen,
  });
  const visible = hub.lists.tools(hub.callerFor({ agent })).map(toAgentTool);
  return {
    tools: [...visible.map((tool) => visibleRow(hub, agent, tool)), ...hiddenRows(hub, options, visible)],
    unavailable: hub
      .status()
      .filter(({ name, state }) => servers.includes(name) && state !== 'connected' && state !== 'quarantined')
      .map(({ name, error, tools }) => ({ name, error: error ?? null, known: tools !== undefined })),
    untrusted: routed(hub, options, (state) => state === 'untrusted'),
    problems: [
      ...hub.problems().filter(({ severity }) => severity === 'error'),
      ...hub.unknownNames().filter(({ server }) => server !== undefined && servers.includes(server)),
    ],
    note: strangerNote(hub.configuration, agent) ?? null,
  };
}

/** The servers of the agent in such a state, or of all agents. */
function routed(hub: Hub, { agent, all }: AgentToolsOptions, isMeant: (state: string) => boolean): string[] {
  const names = hub.status().flatMap(({ name, state }) => (isMeant(state) ? [name] : []));
  // Routing is the same for all tools of a server, so any name will do.
  return all ? names : names.filter((server) => hub.explain([agent], server, '*').reason.kind !== 'not-routed');
}

const unusable: ReadonlySet<string> = new Set(['invalid', 'disabled', 'untrusted']);

function visibleRow(hub: Hub, agent: string, { name, server, tool, decision, description }: AgentTool): Row {
  const { kind } = hub.explain([agent], server, tool).reason;
  return { name, server, tool, decision, kind, reason: kind, description: description ?? '' };
}

/**
 * Tools that servers have and the agent does not see, with the reason in place of the description. Other agents' servers
 * count only if all are asked: whether they have listed their tools yet is a matter of chance.
 */
function hiddenRows(hub: Hub, { agent, all }: AgentToolsOptions, visible: readonly AgentTool[]): Row[] {
  const shown = new Set(visible.map(({ server, tool }) => `${server}.${tool}`));
  const rows: Row[] = [];
  for (const [server, { tools, withheld }] of hub.catalogs()) {
    const unaccepted = [...(withheld?.tool.values() ?? [])].map(({ definition }) => definition);
    for (const { name: tool, text } of [...tools, ...unaccepted]) {
      if (shown.has(`${server}.${tool}`)) continue;
      const decision = hub.explain([agent], server, tool);
      if (decision.effect !== 'deny' || (!all && decision.reason.kind === 'not-routed')) continue;
      const reason = describeDecision(decision, server, tool);
      const description = shortReason(reason, text);
      rows.push({ name: null, server, tool, decision: 'deny', kind: decision.reason.kind, reason, description });
    }
  }
  return rows;
}

function shortReason(reason: string, definition: string): string {
  const parsed: unknown = JSON.parse(definition);
  const description = isJsonObject(parsed) && typeof parsed.description === 'string' ? parsed.description : '';
  return reason.slice(reason.indexOf(': ') + 2) || description;
}
