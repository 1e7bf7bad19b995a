import { HubError } from '../../base/index.ts';
import type { View } from '../../calls/index.ts';
import type { Hub } from '../../hub/index.ts';
import { type AgentTool, toAgentTool } from './agent-tool.ts';
import { locateTool, type Patience } from './discover.ts';
import { checkRefs, type ToolName, type ToolRef, textOf } from './tool-ref.ts';

/** Exactly these of the agent's tools, in this order. */
export async function selectTools(
  hub: Hub,
  chain: readonly string[],
  wanted: readonly ToolRef[],
  patience: Patience,
): Promise<readonly AgentTool[]> {
  checkRefs(wanted);
  // Together: servers that were never seen are waited for at the same time.
  const found = await Promise.all(wanted.map((ref) => locateTool(hub, chain, ref, patience)));
  return found.map((entry, index) => {
    const ref = wanted[index] as ToolRef; // one entry for each
    if (entry === undefined) throw notThere(hub.views.of(chain), ref);
    return toAgentTool(entry);
  });
}

/** Throws where the agent was narrowed to other tools. */
export function checkSelected(
  selection: readonly ToolRef[] | undefined,
  name: ToolName | Pick<ToolRef, 'server' | 'tool'>,
): void {
  if (selection === undefined) return;
  if (typeof name === 'string') {
    if (selection.some((ref) => textOf(ref) === name)) return;
  } else if (selection.some(({ server, tool }) => server === name.server && tool === name.tool)) return;
  const text = typeof name === 'string' ? name : `${name.server}.${name.tool}`;
  throw new HubError('TOOL_UNKNOWN', `Tool ${text} is not among those that the program selected for this agent.`, {
    hint: 'Add it to the selection.',
    details: { tool: text },
  });
}

function notThere({ chain, unseen }: View, { server, tool }: ToolRef): HubError {
  const control = unseen.find(({ spec }) => spec.name === server);
  const status = control?.status();
  const details = { server, tool };
  if (status === undefined) {
    return new HubError('TOOL_UNKNOWN', `Agent "${chain[0] ?? ''}" has no tool ${server}.${tool}.`, {
      hint: 'Check both names; `qm explain` says which rule hides it, if one does.',
      details,
    });
  }
  const why = status.error ?? `Server "${server}" has not told its tools in time.`;
  return new HubError('UPSTREAM_UNAVAILABLE', `Tool ${server}.${tool} cannot be selected: ${why}`, {
    hint: 'Nothing was sent. Start the server, or select other tools.',
    details: { ...control?.failure?.details, ...details, state: status.state },
  });
}
