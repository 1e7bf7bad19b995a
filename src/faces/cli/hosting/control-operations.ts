import { z } from 'zod';
import type { AgentToolEntry } from '../../../calls/index.ts';
import { describeDecision } from '../../../governance/index.ts';
import type { Hub } from '../../../hub/index.ts';
import { adminActs } from '../../../ledger/index.ts';
import { commandOrigins } from '../../api/index.ts';
import type { ControlOperations } from '../../control/index.ts';
import type { CliContext } from '../context.ts';
import { maskTexts } from '../terminal/mask.ts';

const toolSchema = z.object({ tool: z.string() });

/** Acts of the operator that a command is about to do. Who does them is not the command's to say. */
const recordSchema = z.object({
  events: z
    .array(
      z.object({
        how: z.enum(commandOrigins),
        what: z.enum(adminActs),
        subject: z.string().max(200),
        detail: z.string().max(200).exactOptional(),
        failed: z.boolean().exactOptional(),
      }),
    )
    .max(50),
});

export const locatedToolSchema = z.object({
  /** The name for the agent. */
  name: z.string(),
  server: z.string(),
  /** The name in policies and records. */
  subjectName: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
  decision: z.string().describe('The decision in words'),
});

/** A tool that an agent sees, as `qm call` needs it. */
export type LocatedTool = Readonly<z.infer<typeof locatedToolSchema>>;

/** How long servers that were never discovered may take. */
export const locateMs = 30_000;

/** What the operator's commands ask of a running hub. */
export function controlOperations(cli: Pick<CliContext, 'clock' | 'mask'>, hub: Hub): ControlOperations {
  const { clock } = cli;
  return {
    async tools({ agent, params, signal, tell }) {
      const { collectAgentTools } = await import('../agents/agent-tools.ts');
      const { all } = z.object({ all: z.boolean() }).parse(params);
      const onAsk = (servers: readonly string[]): void => tell(`Asking ${servers.join(', ')} …`);
      return maskTexts(cli.mask, await collectAgentTools(hub, { agent, all, timeout: { clock, signal }, onAsk }));
    },
    async diagnose(request) {
      const { diagnoseServers } = await import('../doctor/diagnose-servers.ts');
      return diagnoseServers(cli, hub, request);
    },
    async inspect(request) {
      const { inspectInHub } = await import('../doctor/inspect-in-hub.ts');
      return inspectInHub(cli, hub, request);
    },
    async definitions({ params }) {
      const { listDefinitions } = await import('../lock/list-definitions.ts');
      return maskTexts(cli.mask, await listDefinitions(hub, params));
    },
    async 'accept-listed'({ params }) {
      const { servers } = z.object({ servers: z.array(z.string()) }).parse(params);
      for (const server of servers) hub.acceptListed(server);
      return { servers };
    },
    async logs(request) {
      const { readServerLog } = await import('./server-log.ts');
      return readServerLog(cli, hub, request);
    },
    async record({ params }) {
      const { events } = recordSchema.parse(params);
      await Promise.all(events.map((event) => hub.ledger.admin({ who: 'operator', ...event })));
    },
    async locate({ agent, params, signal }) {
      const { tool } = toolSchema.parse(params);
      const { locateTool } = await import('../../library/index.ts');
      const entry = await locateTool(hub, hub.callerFor({ agent }), tool, { clock, limitMs: locateMs, signal });
      return entry === undefined ? null : locatedTool(entry);
    },
    async 'why-unknown'({ agent, params }) {
      const { whyUnknown } = await import('../agents/explain-question.ts');
      throw whyUnknown(hub, agent, toolSchema.parse(params).tool);
    },
  };
}

export async function locatedTool(entry: AgentToolEntry): Promise<LocatedTool> {
  const { toAgentTool } = await import('../../library/index.ts');
  const { name, server, subjectName, tool, decision } = entry;
  return {
    name,
    server,
    subjectName,
    inputSchema: toAgentTool(entry).inputSchema,
    decision: describeDecision(decision, server, tool.name),
  };
}
