import type { Caller } from '../../domain/index.ts';
import { type LedgerSubject, ledgerSubject } from '../../ledger/index.ts';
import type { ResultReply } from '../../upstream/index.ts';
import type { CallRequest } from '../call.ts';
import type { View } from '../views/view.ts';
import { missingServers } from './missing-servers.ts';

/** The hub's own tool. No server's tool gets this name. */
export const statusToolName = 'quartermaster_status';

/** Its definition, which is in an agent's list while a server of the agent is missing there. */
export const statusToolText = JSON.stringify({
  name: statusToolName,
  title: 'Missing MCP servers',
  description:
    'Says which of your MCP servers have no tools in your list yet, why, and what to do. Listed only while a server is missing; your tool list updates when the server is ready.',
  inputSchema: { type: 'object', properties: {} },
  annotations: { readOnlyHint: true, openWorldHint: false },
});

export function isStatusCall({ kind, name }: Pick<CallRequest, 'kind' | 'name'>): boolean {
  return kind === 'tool' && name === statusToolName;
}

/** Its ledger subject. It involves no server and needs no right. */
export function statusSubject({ agent, chain }: Caller): LedgerSubject {
  return ledgerSubject({ agent, chain, server: null, tool: statusToolName, decision: 'allow' });
}

/** Enough to see that something is wrong, even with hundreds of servers. */
const mostServers = 50;

export function statusResult(view: View): ResultReply {
  const missing = missingServers(view);
  const lines = missing
    .slice(0, mostServers)
    .map(({ server, why, meanwhile }) => `- ${server} ${why}. Meanwhile: ${meanwhile}.`);
  if (missing.length > mostServers) lines.push(`- and ${missing.length - mostServers} more`);
  const text =
    missing.length === 0
      ? 'All your MCP servers are available. List your tools again if one is missing.'
      : ['These MCP servers have no tools in your list yet:', ...lines, 'Your tool list updates automatically.'].join(
          '\n',
        );
  const value = { content: [{ type: 'text', text }] };
  return { kind: 'result', id: null, text: JSON.stringify(value), value };
}
