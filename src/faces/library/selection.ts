import { HubError } from '../../base/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import { type AgentTool, toAgentTool } from './agent-tool.ts';
import { type DiscoverTimeout, locateTool } from './discover.ts';
import { unknownOrUntrusted } from './not-trusted.ts';
import { checkRefs, type ToolRef } from './tool-ref.ts';

/** Exactly these of the agent's tools, in this order. */
export async function selectTools(
  hub: Hub,
  caller: Caller,
  wanted: readonly ToolRef[],
  timeout: DiscoverTimeout,
): Promise<readonly AgentTool[]> {
  // In parallel, to wait for all undiscovered servers at once.
  const found = await Promise.all(wanted.map((ref) => locateTool(hub, caller, ref, timeout)));
  return found.map((entry, index) => {
    const ref = wanted[index] as ToolRef; // `found` has one entry for each
    if (entry === undefined) throw notThere(hub, caller, ref);
    return toAgentTool(entry);
  });
}

/** Throws for what is no tool, and for tools to which the program did not narrow the agent. */
export function checkWanted(wanted: readonly ToolRef[], selection: readonly ToolRef[] | undefined): void {
  checkRefs(wanted);
  if (selection !== undefined) for (const ref of wanted) checkSelected(selection, ref);
}

function checkSelected(selection: readonly ToolRef[], { server, tool }: ToolRef): void {
  if (selection.some((ref) => ref.server === server && ref.tool === tool)) return;
  const message = `Tool ${server}.${tool} is not among those that the program selected for this agent.`;
  throw new HubError('TOOL_UNKNOWN', message, { hint: 'Add it to the selection.', details: { server, tool } });
}

function notThere(hub: Hub, caller: Caller, ref: ToolRef): HubError {
  const { server, tool } = ref;
  const undiscovered = hub.lists.undiscovered(caller).find(({ name }) => name === server);
  const { status, failure } = undiscovered ?? {};
  const details = { server, tool };
  if (status === undefined) {
    const unknown = new HubError('TOOL_UNKNOWN', `Agent "${caller.agent}" has no tool ${server}.${tool}.`, {
      hint: 'Check both names; `qm explain` says which rule hides it, if one does.',
      details,
    });
    return unknownOrUntrusted(hub, caller, ref, unknown);
  }
  const why = status.error ?? `Server "${server}" has not listed its tools in time.`;
  return new HubError('UPSTREAM_UNAVAILABLE', `Tool ${server}.${tool} cannot be selected: ${why}`, {
    hint: 'Nothing was sent. Start the server, or select other tools.',
    details: { ...failure?.details, ...details, state: status.state },
  });
}
