import { isJsonObject } from '../../../base/index.ts';
import type { Client, ClientContext, ClientEntry, ClientFile, ProjectText } from '../../../clients/index.ts';
import { fittingName } from '../../../config/index.ts';
import type { Configuration, ServerSpec, TransportSpec } from '../../../domain/index.ts';
import { parseText } from '../../../workspace-files/index.ts';

/** An entry with which a client reaches a server of the hub without the hub, or the hub as another agent. */
export interface DirectEntry {
  readonly file: ClientFile;
  readonly entry: ClientEntry;
  /** The server of the hub; for an entry that leads to the hub itself, its agent. */
  readonly server: string;
  readonly reason: 'name' | 'program' | 'address' | 'hub';
  /** Why the hub does not serve it, as half a sentence; undefined if it does. */
  readonly unserved?: string;
}

export interface DirectScope {
  readonly client: Client;
  readonly at: ClientContext;
  /** The servers that the hub serves. */
  readonly served: readonly ServerSpec[];
  /** Why the hub does not serve its other servers, by name. */
  readonly unserved: ReadonlyMap<string, string>;
  /** The entry for the hub that the command writes; undefined if it writes none. */
  readonly own: { readonly path: string; readonly key: string } | undefined;
  textOf(path: string): string | undefined;
  /** The configuration that one file alone gives. */
  load(project: ProjectText): Promise<Configuration>;
}

/** Looks at every file that the client takes servers from. Entries that are off are left out. */
export async function findDirect(scope: DirectScope): Promise<readonly DirectEntry[]> {
  const found: DirectEntry[] = [];
  for (const file of scope.client.files(scope.at)) {
    const text = scope.textOf(file.path);
    const project = text === undefined ? undefined : file.readAs(text);
    if (text === undefined || project === undefined) continue;
    const configuration = await scope.load(project);
    for (const entry of file.entries(text)) {
      const isOwn = scope.own?.path === file.path && scope.own.key === entry.key;
      const match = isOwn ? undefined : matchOf(scope, configuration, entry, contentAt(text, file, entry));
      if (match !== undefined) found.push({ file, entry, ...match });
    }
  }
  return found;
}

/** What an entry says. */
export function contentAt(text: string, { dialect }: ClientFile, { path }: ClientEntry): unknown {
  let here = parseText(text, dialect);
  for (const key of path) here = typeof here === 'object' && here !== null ? Reflect.get(here, key) : undefined;
  return here;
}

function matchOf(
  { client, served, unserved, at }: DirectScope,
  configuration: Configuration,
  { key }: ClientEntry,
  content: unknown,
): Pick<DirectEntry, 'server' | 'reason' | 'unserved'> | undefined {
  if (isJsonObject(content) && client.isOff?.(content) === true) return undefined;
  const name = fittingName(key) ?? key;
  const server = configuration.servers.get(name);
  // The configuration leaves out entries that lead to a hub.
  if (server === undefined) {
    const agent = hubAgentOf(content, at.workspace);
    return agent === undefined ? undefined : { server: agent, reason: 'hub' };
  }
  if (served.some((each) => each.name === name)) return { server: name, reason: 'name' };
  const why = unserved.get(name);
  if (why !== undefined) return { server: name, reason: 'name', unserved: why };
  const spec = server.kind === 'ready' ? server.spec : undefined;
  for (const { name: other, transport, fallbacks } of spec === undefined ? [] : served) {
    const reason = [transport, ...fallbacks].map((each) => sameTransport(each, spec?.transport)).find(Boolean);
    if (reason !== undefined) return { server: other, reason };
  }
  return undefined;
}

function sameTransport(left: TransportSpec, right: TransportSpec | undefined): 'program' | 'address' | undefined {
  if (right === undefined) return undefined;
  if (left.type === 'stdio' && right.type === 'stdio') {
    const same = [left.command, ...left.args].join('\0') === [right.command, ...right.args].join('\0');
    return same ? 'program' : undefined;
  }
  const [own, other] = [left, right].map((each) => ('url' in each ? addressOf(each.url) : undefined));
  return own !== undefined && own === other ? 'address' : undefined;
}

function addressOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { origin, pathname, search } = new URL(url);
  return origin + pathname.replace(/\/$/, '') + search;
}

/** The agent of an entry that starts `qm stdio` for this workspace. */
export function hubAgentOf(content: unknown, workspace: string): string | undefined {
  const words = wordsIn(content);
  const start = words.indexOf('stdio');
  const optionOf = (option: string): string | undefined => {
    const at = words.indexOf(option, start);
    return at < 0 ? undefined : words[at + 1];
  };
  if (start < 0 || optionOf('--workspace') !== workspace) return undefined;
  return optionOf('--agent');
}

/** The command and arguments of an entry, in whatever form. */
function wordsIn(content: unknown): readonly string[] {
  if (typeof content !== 'object' || content === null) return [];
  const { command, args } = { command: undefined, args: undefined, ...content } as Record<string, unknown>;
  return [command, args].flat().filter((word) => typeof word === 'string');
}
