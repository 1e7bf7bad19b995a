import type { AgentSpec, Fleet, ToolPolicy } from '../../domain/index.ts';
import type { Grammar } from '../interpolation.ts';
import type { Finding } from '../problems.ts';
import type { ServerDraft } from '../server-draft.ts';
import type { SourceText } from '../source-file.ts';
import type { ParsedSource, SourceNode } from '../source-tree.ts';

/** One kind of file: how to parse it, and what it says in the words of the fleet. */
export interface Reader {
  readonly place: Place;
  readonly grammar: Grammar;
  /** Variables that this format's own client sets to the workspace. */
  readonly workspaceNames: readonly string[];
  /** True where agents and policies live: such a file, when it cannot be understood, leaves nothing allowed. */
  readonly restricts: boolean;
  /** How to name a variable in this format, as the start of a sentence; absent: `Write ${NAME}`. */
  readonly sayVariable?: (name: string) => string;
  /** Where one file is one server: its name. A file that cannot be understood is that server, invalid. */
  readonly serverOf?: (file: string) => string;
  /** True where one file is one agent: then they are put together, also with those of a stronger file. */
  readonly oneAgent?: boolean;
  /** Where others have files of the same name: whether this one may be of our kind. Others' are passed over. */
  readonly mayBeOurs?: (text: string) => boolean;
  parse(text: string, file: string): ParsedSource;
  read(root: SourceNode, file: string, nearby: Nearby): Reading | Promise<Reading>;
}

/** Other files that a configuration file names; only what lies inside the workspace is read. */
export type Nearby = (path: string) => Promise<SourceText>;

/** Relative to the workspace: one file, every file of a folder that has one of the endings, or of these names below it. */
export type Place =
  | { readonly file: string }
  | { readonly folder: string; readonly endings: readonly string[] }
  | { readonly tree: string; readonly names: readonly string[] };

/** As messages name it: `.mcp/servers/*.{yaml,json}`. */
export function placeText(place: Place): string {
  if ('file' in place) return place.file;
  if ('tree' in place) return `${place.tree}/**/${either(place.names)}`;
  return `${place.folder}/*.${either(place.endings.map((ending) => ending.slice(1)))}`;
}

function either(texts: readonly string[]): string {
  return texts.length === 1 ? (texts[0] ?? '') : `{${texts.join(',')}}`;
}

export type Reading =
  | { readonly kind: 'read'; readonly content: FileContent }
  /** Parsed, but not a file of this kind: nothing of it is used. */
  | { readonly kind: 'refused'; readonly finding: Finding }
  /** Somebody else's file of the same name. */
  | { readonly kind: 'foreign' };

export interface FileContent {
  readonly servers: readonly ServerDraft[];
  /** Servers of other files that this one switches off. */
  readonly switchedOff?: readonly { readonly name: string; readonly line: number }[];
  /** Where the file itself says what its variables mean. */
  readonly grammar?: Grammar;
  /** Everything that does not belong to one server. */
  readonly findings: readonly Finding[];
  readonly agents: ReadonlyMap<string, AgentSpec>;
  /** The role of each agent that the file gives one. */
  readonly roles: ReadonlyMap<string, string>;
  readonly policy: ToolPolicy | undefined;
  readonly settings: Settings;
  readonly mentions: readonly Mention[];
}

/** What a file says that says nothing. */
export const emptyContent: FileContent = {
  servers: [],
  findings: [],
  agents: new Map(),
  roles: new Map(),
  policy: undefined,
  settings: {},
  mentions: [],
};

export type Settings = Partial<Pick<Fleet, 'naming' | 'ledger' | 'serve'>>;

/** A server named by a route, a filter or a rule, or a role; whether it exists is known only when all files are read. */
export interface Mention {
  readonly kind: 'name' | 'pattern' | 'role';
  readonly text: string;
  readonly line: number;
  readonly field: string;
  readonly subject: string;
}
