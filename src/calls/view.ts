import type { Decision, Fleet, Naming, OperationKind, TaskKind, ToolDefinition } from '../domain/index.ts';
import type { AgentPolicy } from '../governance/index.ts';
import { ledgerSubject } from '../ledger/index.ts';
import type { UpstreamControl, UpstreamHandles } from '../upstream/index.ts';
import { exposedText } from './exposed-text.ts';
import { legacyToolText } from './legacy-tools.ts';
import type { NameBook } from './names.ts';
import type { ResourceNames } from './resource-names.ts';
import type { Keeping, ResultCaches } from './result-cache.ts';
import type { Listed } from './shelves.ts';
import { statusToolText } from './status-tool.ts';
import { methods, type Target } from './target.ts';
import { createOthers } from './view-others.ts';

/** One tool as one agent has it. */
export interface ViewEntry extends Target {
  readonly tool: ToolDefinition;
}

/** What an agent has, immutable. A call keeps the view it started with. */
export interface View {
  readonly chain: readonly string[];
  readonly naming: Naming;
  /** By the name the agent sees. */
  readonly entries: ReadonlyMap<string, ViewEntry>;
  /** By `server.tool`, as policies and operators say it. */
  readonly bySubject: ReadonlyMap<string, ViewEntry>;
  /** What is no tool and no task, by the name or URI that the agent says; undefined for what it does not have. */
  find(kind: Exclude<OperationKind, 'tool' | TaskKind>, name: string): Target | undefined;
  /** Whether a URI, in the server's own words, is not denied to the agent. */
  canRead(server: string, uri: string): boolean;
  /** What is listed besides tools, in the order of names; made when first asked for. */
  listed(kind: ListedKind): readonly Listed[];
  /** The JSON array of all visible tools, and of the hub's own while a server is missing. */
  readonly toolsText: string;
  /** The same for clients of the legacy era; made when first asked for. */
  readonly legacyToolsText: string;
  /** The same of what is listed besides tools. */
  readonly promptsText: string;
  readonly resourcesText: string;
  readonly templatesText: string;
  /** Some server of the agent writes a log; where none does, nobody needs to listen for it. */
  readonly mayLog: boolean;
  /** Some server of the agent makes tasks of calls, though it may be away. */
  readonly tasks: boolean;
  /** Servers that the agent sees and whose tools are not listed: nobody knows them yet, or they are away for too long. */
  readonly unseen: readonly UpstreamControl[];
  /** Tools of those that the agent had, by the name it saw. */
  readonly missed: ReadonlyMap<string, UpstreamControl>;
}

export type ListedKind = 'prompt' | 'resource' | 'template';

export interface ViewSource {
  readonly fleet: Fleet;
  readonly upstreams: ReadonlyMap<string, UpstreamHandles>;
  /** Of tools. */
  readonly names: NameBook;
  readonly promptNames: NameBook;
  readonly resourceNames: ResourceNames;
  readonly caches: ResultCaches;
}

export function buildView(source: ViewSource, policy: AgentPolicy, chain: readonly string[]): View {
  const entries: ViewEntry[] = [];
  const unseen: UpstreamControl[] = [];
  const missed = new Map<string, UpstreamControl>();
  let tasks = false;
  for (const [server, handles] of source.upstreams) {
    const { control } = handles;
    const cache = source.caches.of(server);
    if (!policy.seesServer(server)) continue;
    if (control.catalog === undefined) unseen.push(control);
    if (control.lastCatalog?.abilities.tasks) tasks = true;
    for (const tool of control.lastCatalog?.tools ?? []) {
      const name = source.names.nameOf(server, tool.name);
      const decision = policy.decide(server, tool.name, name, tool.hints);
      if (decision.effect === 'deny') continue;
      if (control.catalog === undefined) {
        missed.set(name, control);
        continue;
      }
      entries.push(toEntry(handles, tool, name, decision, chain, cache?.forTool(tool)));
    }
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const others = createOthers(source, policy, chain);
  const texts = entries.map(toolText);
  if (unseen.length > 0) texts.push(statusToolText);
  let legacyToolsText: string | undefined;
  return {
    chain,
    naming: source.fleet.naming,
    entries: new Map(entries.map((entry) => [entry.name, entry])),
    bySubject: new Map(entries.toSorted(byServerLength).map((entry) => [`${entry.server}.${entry.tool.name}`, entry])),
    find: others.find,
    canRead: others.canRead,
    listed: others.listed,
    toolsText: `[${texts.join(',')}]`,
    get legacyToolsText() {
      legacyToolsText ??= `[${texts.map(legacyToolText).join(',')}]`;
      return legacyToolsText;
    },
    get promptsText() {
      return others.promptsText;
    },
    get resourcesText() {
      return others.resourcesText;
    },
    get templatesText() {
      return others.templatesText;
    },
    mayLog: entries.some(({ control }) => control.catalog?.abilities.logging === true),
    tasks,
    unseen,
    missed,
  };
}

function toEntry(
  { control, dispatch }: UpstreamHandles,
  tool: ToolDefinition,
  name: string,
  decision: Decision,
  chain: readonly string[],
  keeping: Keeping | undefined,
): ViewEntry {
  const server = control.spec.name;
  return {
    kind: 'tool',
    name,
    server,
    subjectName: tool.name,
    tool,
    decision,
    dispatch,
    control,
    subject: ledgerSubject({ agent: chain[0] ?? '', chain, server, tool: tool.name, decision: decision.effect }),
    method: methods.tool,
    ownName: tool.name,
    callHead: `"name":${JSON.stringify(tool.name)},"arguments":`,
    carries: 'arguments',
    mirrored: tool.mirrored,
    safeToRepeat: tool.safeToRepeat,
    tasks: control.catalog?.abilities.tasks === true,
    keeping,
  };
}

/** Names may hold dots themselves; of two readings the longer server name wins, and the last of a map's keys counts. */
function byServerLength(a: ViewEntry, b: ViewEntry): number {
  return a.server.length - b.server.length;
}

function toolText({ tool, name }: ViewEntry): string {
  return exposedText(tool.text, 'name', tool.name, name);
}
