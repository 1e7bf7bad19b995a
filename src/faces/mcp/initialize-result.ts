import { version } from '../../base/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import {
  metaKeys,
  modernVersions,
  negotiateLegacy,
  type Params,
  tasksExtension,
  uiExtension,
} from '../../mcp/index.ts';
import { instructionsFor } from './instructions.ts';

/** The hub's own `serverInfo`. */
const serverInfo = { name: 'quartermaster', title: 'Quartermaster', version };

/** A member of every modern result, which names the server. */
export const identity = `"_meta":${JSON.stringify({ [metaKeys.serverInfo]: serverInfo })}`;

/** A list is for one agent and may change with any reload, so it is private and not cached. */
export const caching = '"ttlMs":0,"cacheScope":"private"';

/** Servers come and go, so the hub declares every capability that one of them might need. */
const available = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
  extensions: { [uiExtension]: {} },
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
    text: JSON.stringify({ protocolVersion, capabilities: available, serverInfo, instructions }),
  };
}

export function discoverResult(hub: Hub, caller: Caller): string {
  const instructions = instructionsFor(hub, caller);
  const extensions = { ...available.extensions, [tasksExtension]: {} };
  const capabilities = hub.lists.hasTasks(caller) ? { ...available, extensions } : available;
  const members = JSON.stringify({ supportedVersions: modernVersions, capabilities, instructions }).slice(1, -1);
  return `{"resultType":"complete",${members},${caching},${identity}}`;
}

/** The final result of a subscription. */
export function subscriptionResult(idText: string): string {
  const tag = JSON.stringify({ [metaKeys.serverInfo]: serverInfo }).slice(0, -1);
  return `{"resultType":"complete","_meta":${tag},"${metaKeys.subscriptionId}":${idText}}}`;
}
