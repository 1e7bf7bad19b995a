import { HubError } from '../../../base/index.ts';
import type { CallRequest } from '../../../calls/index.ts';
import type { ToolArguments } from '../agents/tool-arguments.ts';
import { type LocatedTool, locatedToolSchema } from '../hosting/control-operations.ts';
import type { JoinedHub } from '../hub/join-hub.ts';
import { personCapabilities } from '../terminal/ask-person.ts';
import { callOverSocket, type StartedCliCall } from './call-over-socket.ts';

/** What `qm call` needs of the hub. */
export interface CliCalls {
  locate(tool: string, stop: AbortSignal): Promise<LocatedTool | undefined>;
  begin(call: ToolCallOrder, stop: AbortSignal): Promise<StartedCliCall>;
  /** Throws the reason why the agent has no such tool. */
  explainUnknown(tool: string): Promise<never>;
}

export interface ToolCallOrder {
  readonly name: string;
  readonly args: ToolArguments;
  readonly attended: Pick<CallRequest, 'channel' | 'client'>;
}

export function createCliCalls(hub: JoinedHub, identity: { readonly agent: string; readonly run: string }): CliCalls {
  const { agent } = identity;
  return {
    async locate(tool, stop) {
      const found = await hub.operate({ name: 'locate', params: { tool }, agent }, stop);
      return locatedToolSchema.nullable().parse(found) ?? undefined;
    },
    async begin({ name, args, attended }, stop) {
      const { channel } = attended;
      const capabilities = channel?.ask === undefined ? {} : personCapabilities;
      const attached = await hub.attach(identity, { stop });
      return callOverSocket(attached, { name, argumentsText: args.text, channel, capabilities });
    },
    async explainUnknown(tool) {
      await hub.operate({ name: 'why-unknown', params: { tool }, agent });
      throw new HubError('TOOL_UNKNOWN', `Agent ${agent} has no tool "${tool.slice(0, 120)}".`);
    },
  };
}
