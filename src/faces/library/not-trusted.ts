import { type ErrorCode, HubError } from '../../base/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import { type ToolName, textOf } from './tool-ref.ts';

/** Throws if all of the agent's servers wait for approval: an empty list would look as if it had none. */
export function checkTrusted(hub: Hub, caller: Caller): void {
  const waiting = untrustedServers(hub, caller);
  if (waiting.length === 0 || hub.lists.tools(caller).length > 0 || hub.lists.undiscovered(caller).length > 0) return;
  throw notTrusted(waiting);
}

/** The error for an unknown name. It may belong to a server that waits for approval. */
export function unknownOrUntrusted(hub: Hub, caller: Caller, name: ToolName, error: HubError): HubError {
  if (!unknownCodes.has(error.code)) return error;
  const waiting = untrustedServers(hub, caller);
  if (waiting.length === 0) return error;
  const owner = waiting.find((server) => namesServer(name, server));
  if (owner !== undefined) return notTrusted([owner], textOf(name));
  const { code, message, cause, details } = error;
  return new HubError(code, message, { cause, details, hint: `${saysWaiting(waiting)} ${approve(waiting)}` });
}

const unknownCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['TOOL_UNKNOWN', 'RESOURCE_UNKNOWN', 'PROMPT_UNKNOWN']);

function untrustedServers(hub: Hub, caller: Caller): readonly string[] {
  return hub.lists.missingServers(caller).flatMap(({ server, state }) => (state === 'untrusted' ? [server] : []));
}

function namesServer(name: ToolName, server: string): boolean {
  if (typeof name !== 'string') return name.server === server;
  return name.startsWith(`${server}.`) || name.startsWith(`${server}_`);
}

function notTrusted(servers: readonly string[], tool?: string): HubError {
  const [server = ''] = servers;
  return new HubError('NOT_TRUSTED', saysWaiting(servers), {
    hint: approve(servers),
    details: tool === undefined ? { server } : { server, tool: tool.slice(0, 200) },
  });
}

function saysWaiting(servers: readonly string[]): string {
  const names = servers.map((server) => `"${server}"`).join(', ');
  return servers.length === 1 ? `Server ${names} is not trusted yet.` : `Servers ${names} are not trusted yet.`;
}

function approve(servers: readonly string[]): string {
  const command = servers.length === 1 ? `qm trust ${servers[0]}` : 'qm trust';
  return `Run \`${command}\` in the workspace to approve ${servers.length === 1 ? 'it' : 'them'}.`;
}
