import type { WorkBudget } from '../../base/index.ts';
import type { Configuration, Naming, ToolDefinition } from '../../domain/index.ts';
import type { AgentPolicy } from '../../governance/index.ts';
import type { Era } from '../../mcp/index.ts';
import type { UpstreamControl, UpstreamHandles } from '../../upstream/index.ts';
import type { ResultCaches } from '../cache/result-cache.ts';
import type { ToolReference } from '../call.ts';
import type { Target } from '../target.ts';
import { AgentView } from './agent-view.ts';
import { createCatalogIndex } from './catalog-index.ts';
import { createDecisionIntern } from './list-decisions.ts';
import { nameAll } from './naming/name-all.ts';
import type { NameBook } from './naming/names.ts';
import type { ResourceNames } from './naming/resource-names.ts';
import type { ReadKind } from './read-target.ts';
import type { Listed } from './view-resources.ts';

/** One tool in the view of one agent. */
export interface ViewEntry extends Target {
  readonly tool: ToolDefinition;
}

/** The tools, resources and prompts of one agent. Immutable: a call keeps the entry that it started with. */
export interface View {
  readonly chain: readonly string[];
  readonly naming: Naming;
  /** The visible tools by exposed name, in alphabetical order. */
  readonly entries: VisibleTools;
  /** A tool by its exposed name. Finds denied ones too, so that a refused call is recorded with its true tool. */
  findTool(name: string): ViewEntry | undefined;
  /** A visible tool, by its server and the server's own name. */
  toolOf(server: string, tool: string): ViewEntry | undefined;
  /** The same by `server.tool`, as in policies. */
  toolBySubject(subject: string): ViewEntry | undefined;
  /** The same, including denied tools and servers that the agent does not see. */
  toolOrDenied(server: string, tool: string): ViewEntry | undefined;
  /**
   * A denied tool by its server, or by `server.tool`. Finds it even if the server has not listed its tools, because a
   * server is not started for an agent that may not use it. For records only.
   */
  deniedTool(tool: ToolReference | string): Target | undefined;
  /** The exposed name of a prompt of a visible server by `server.prompt`, even of a denied one. */
  promptName(subject: string): string | undefined;
  /** Whether the text begins with the name of a server and a dot. */
  namesServer(subject: string): boolean;
  /** A resource, template or prompt by the agent's name or URI. Undefined if the agent does not have it. */
  find(kind: ReadKind, name: string): Target | undefined;
  /** The same for a denied one. For records only, because the agent must not learn that it exists. */
  findDenied(kind: ReadKind, name: string): Target | undefined;
  /** Whether the agent may read the server's URI. Denied if the decision exceeds the budget. */
  canRead(server: string, uri: string, budget?: WorkBudget): boolean;
  /** The exposed form of the server's URI that leads to this server. */
  ownedUri(server: string, uri: string): string;
  /** A tool of a visible server by the server's own name, even a denied one. For calls of the server's user interfaces. */
  appTool(server: string, tool: string): ViewEntry | undefined;
  /** Visible resources, templates or prompts in alphabetical order. */
  listed(kind: ListedKind): readonly Listed[];
  /** The JSON array of all visible tools, with the hub's own tool while a server is missing. Assembled each time. */
  readonly toolsText: string;
  /** The same for one client: without tools for user interfaces, if it shows none. */
  toolsTextFor(client: ListClient): string;
  /** The same for a list of resources, templates or prompts. */
  readonly promptsText: string;
  readonly resourcesText: string;
  readonly templatesText: string;
  /** A digest of the visible list. Hidden entries do not affect it. */
  digestOf(list: 'tool' | ListedKind): string;
  /** Does the work for the digest in small steps. Yields the work of each: one is a decision. */
  deciding(list: 'tool' | ListedKind): Generator<number>;
  /** Whether a server of the agent supports logging. */
  readonly mayLog: boolean;
  /** Whether a server of the agent supports tasks, even if it is unavailable. */
  readonly tasks: boolean;
  /** Visible servers whose tools are not listed: undiscovered ones, and those that were unavailable for too long. */
  readonly undiscovered: readonly UpstreamControl[];
  /** Visible servers that wait for the operator's approval. */
  readonly untrusted: readonly string[];
  /** The one of them that had a tool of this name, if the agent may know. */
  ownerOfMissing(name: string): UpstreamControl | undefined;
  /** The same for what is no tool and no task. */
  ownerOfMissingRead(kind: ReadKind, name: string): UpstreamControl | undefined;
  /** With `naming: preserved`: the undiscovered server that keeps a visible tool of a later one from having its own name. */
  contenderFor(tool: string): UpstreamControl | undefined;
  /** Servers that come before this one in the configuration and have never listed anything. They may have its URIs. */
  unknownBefore(server: string): readonly UpstreamControl[];
}

/** On which the list of tools depends besides the agent. */
export interface ListClient {
  readonly era: Era;
  /** It shows the user interfaces of tools (MCP Apps). */
  readonly showsUi: boolean;
}

export type VisibleTools = Iterable<[string, ViewEntry]> &
  Pick<ReadonlyMap<string, ViewEntry>, 'get' | 'has' | 'size' | 'keys' | 'values'>;

export type ListedKind = 'prompt' | 'resource' | 'template';

export interface ViewSource {
  readonly configuration: Configuration;
  readonly upstreams: ReadonlyMap<string, UpstreamHandles>;
  /** Of tools. */
  readonly names: NameBook;
  readonly promptNames: NameBook;
  readonly resourceNames: ResourceNames;
  readonly caches: ResultCaches;
}

/** For a single agent. `createViews` shares more between many. */
export function buildView(source: ViewSource, policy: AgentPolicy, chain: readonly string[]): View {
  nameAll(source);
  return new AgentView({ source, policy, chain, index: createCatalogIndex(source), intern: createDecisionIntern() });
}
