import { version } from '../../base/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import { metaKeys, modernVersions, negotiateLegacy, type Params, tasksExtension } from '../../mcp/index.ts';
import { instructionsFor } from './instructions.ts';

/** What the hub says of itself. */
const serverInfo = { name: 'quartermaster', title: 'Quartermaster', version };

/** A member for results of the modern era, which all say whose they are. */
export const identity = `"_meta":${JSON.stringify({ [metaKeys.serverInfo]: serverInfo })}`;

/** A list is the agent's own, and may change with any reload: nobody else may see it, nobody keeps it. */
export const caching = '"ttlMs":0,"cacheScope":"private"';

/** Servers come and go, so everything that one of them might offer is promised from the start. */
const offered = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

export function initializeResult(
  hub: Hub,
  caller: Caller,
  params: Params,
  versions?: readonly string[],
): { readonly protocolVersion: string; readonly text: string } {
  const protocolVersion = negotiateLegacy(params.protocolVersion, versions);
  const instructions = instructionsFor(hub, caller);
  return {
    protocolVersion,
    text: JSON.stringify({ protocolVersion, capabilities: offered, serverInfo, instructions }),
  };
}

export function discoverResult(hub: Hub, caller: Caller): string {
  const instructions = instructionsFor(hub, caller);
  const capabilities = hub.views.of(caller.chain).tasks
    ? { ...offered, extensions: { [tasksExtension]: {} } }
    : offered;
  const members = JSON.stringify({ supportedVersions: modernVersions, capabilities, instructions }).slice(1, -1);
  return `{"resultType":"complete",${members},${caching},${identity}}`;
}

/** The result with which a subscription ends. */
export function subscriptionResult(idText: string): string {
  const tag = JSON.stringify({ [metaKeys.serverInfo]: serverInfo }).slice(0, -1);
  return `{"resultType":"complete","_meta":${tag},"${metaKeys.subscriptionId}":${idText}}}`;
}
