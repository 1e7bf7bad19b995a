import type { HubError } from '../../base/index.ts';
import type { Caller, Decision, ServerStatus, ToolDefinition } from '../../domain/index.ts';
import { type MissingServer, missingServers } from '../availability/missing-servers.ts';
import type { ListClient, ListedKind, View, ViewEntry } from './view.ts';
import type { Listed } from './view-resources.ts';
import type { Views } from './views.ts';

/** The lists for clients and programs: their entries, their text, their digests, and the servers that are missing from them. */
export interface AgentLists {
  /** One list as JSON text. Waits only for undiscovered servers, at most `waitMs`. */
  text(caller: ListCaller, list: ListKind, options: ListOptions): Promise<string>;
  /** Digests of these lists as they are now. One of a list that nobody asked for would be work for nothing. */
  digests(caller: ListCaller, lists: Iterable<ListKind>): ListDigests;
  /** The same in small steps, for many callers at once. Yields the work of each step: one is a decision. */
  digesting(caller: ListCaller, lists: Iterable<ListKind>): Generator<number, ListDigests>;
  /** The caller's tools, for programs and the operator. */
  tools(caller: ListCaller): readonly AgentToolEntry[];
  /** Its resources, templates or prompts. */
  listed(caller: ListCaller, kind: ListedKind): readonly Listed[];
  /** The servers that are missing in both. */
  undiscovered(caller: ListCaller): readonly UndiscoveredServer[];
  /** Servers whose tools are not in the list yet. */
  missingServers(caller: ListCaller): readonly MissingServer[];
  /** Whether a server of the caller supports tasks, even if it is unavailable. */
  hasTasks(caller: ListCaller): boolean;
  /** Asks undiscovered servers, without waiting. */
  discover(caller: ListCaller): void;
  /** The same, but waits for their first answer: at most `waitMs`, and once per server. */
  discovered(caller: ListCaller, waitMs?: number): Promise<void>;
  /** Lists of some callers may have changed. */
  onListsChange(listener: () => void): () => void;
}

/** The facts that lists depend on. */
export type ListCaller = Pick<Caller, 'project' | 'chain'>;

export type ListKind = 'tools' | 'prompts' | 'resources' | 'templates';

/** A short text for some lists, which differs when the list does: what an agent may not see has no part in it. */
export type ListDigests = Partial<Record<ListKind, string>>;

/** A tool that the agent may call or ask for. */
export interface AgentToolEntry {
  /** The exposed name. */
  readonly name: string;
  readonly server: string;
  /** The server's own name, as in policies and the ledger. */
  readonly subjectName: string;
  readonly tool: ToolDefinition;
  readonly decision: Decision;
}

export interface UndiscoveredServer {
  readonly name: string;
  readonly status: ServerStatus;
  readonly failure: HubError | undefined;
}

export interface ListOptions extends ListClient {
  readonly waitMs: number;
}

export interface AgentListsDeps {
  readonly viewsOf: (caller: ListCaller) => Views;
  readonly onListsChange: AgentLists['onListsChange'];
}

export function createAgentLists({ viewsOf, onListsChange }: AgentListsDeps): AgentLists {
  const viewOf = (caller: ListCaller): View => viewsOf(caller).of(caller.chain);
  return {
    async text(caller, list, options) {
      const known = viewOf(caller);
      const view = known.undiscovered.length === 0 ? known : await firstView(viewsOf(caller), caller, options.waitMs);
      return listText(view, list, options);
    },
    digests: (caller, lists) => digestsOf(viewOf(caller), lists),
    *digesting(caller, lists) {
      const kinds = [...lists];
      // A view does not change, so that a server whose lists change all the time cannot prolong this.
      const view = viewOf(caller);
      for (const list of kinds) yield* view.deciding(entryKinds[list]);
      return digestsOf(view, kinds);
    },
    tools: (caller) => [...viewOf(caller).entries.values()].map(toAgentToolEntry),
    listed: (caller, kind) => viewOf(caller).listed(kind),
    undiscovered: (caller) =>
      viewOf(caller).undiscovered.map((control) => ({
        name: control.spec.name,
        status: control.status(),
        failure: control.failure,
      })),
    missingServers: (caller) => missingServers(viewOf(caller)),
    hasTasks: (caller) => viewOf(caller).tasks,
    discover: (caller) => viewsOf(caller).discover(caller.chain),
    async discovered(caller, waitMs) {
      await viewsOf(caller).settled(caller.chain, waitMs);
    },
    onListsChange,
  };
}

/** Without the parts by which `calls` reaches the server. */
function toAgentToolEntry({ name, server, subjectName, tool, decision }: ViewEntry): AgentToolEntry {
  return { name, server, subjectName, tool, decision };
}

/**
 * For a client that cannot wait for long. An empty list would be useless: Codex never lists again, but accepts a
 * late answer to its first list. So while nothing is known, it waits as long as other clients.
 */
async function firstView(views: Views, { chain }: ListCaller, waitMs: number): Promise<View> {
  const view = await views.settled(chain, waitMs);
  return view.entries.size > 0 || view.undiscovered.length === 0 ? view : views.settled(chain);
}

function listText(view: View, list: ListKind, client: ListClient): string {
  switch (list) {
    case 'tools':
      return view.toolsTextFor(client);
    case 'prompts':
      return view.promptsText;
    case 'resources':
      return view.resourcesText;
    case 'templates':
      return view.templatesText;
  }
}

function digestsOf(view: View, lists: Iterable<ListKind>): ListDigests {
  const digests: ListDigests = {};
  for (const list of lists) digests[list] = view.digestOf(entryKinds[list]);
  return digests;
}

const entryKinds = { tools: 'tool', prompts: 'prompt', resources: 'resource', templates: 'template' } as const;
