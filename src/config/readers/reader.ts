import type { AgentSpec, Configuration, PermissionRules, ToolPolicy } from '../../domain/index.ts';
import type { SourceText } from '../files/source-file.ts';
import type { ParsedSource, SourceNode } from '../files/source-tree.ts';
import type { Finding } from '../findings.ts';
import type { Lockfile } from '../lock/lockfile.ts';
import type { ServerDraft } from '../servers/server-draft.ts';
import type { Grammar } from '../variables/interpolation.ts';
import type { WriteVariable } from '../variables/literal-secrets.ts';

/** Parses one kind of file and translates it to the configuration's terms. */
export interface Reader {
  readonly place: Place;
  readonly grammar: Grammar;
  /** Variables that the format's own client sets to the workspace. */
  readonly workspaceNames: readonly string[];
  /** The file contains agents or policies. If it cannot be understood, everything is denied. */
  readonly restricts: boolean;
  /** How to write a variable in this format. Default: `${NAME}`. */
  readonly writeVariable?: WriteVariable;
  /** The server's name, if one file is one server. A file that cannot be understood becomes that server, invalid. */
  readonly serverOf?: (file: string) => string;
  /** One file is one agent. Such files are merged, also with the agents of a stronger file. */
  readonly oneAgent?: boolean;
  /** Whether a file with a common name may be ours. Other programs' files are ignored. */
  readonly mayBeOurs?: (text: string) => boolean;
  parse(text: string, file: string): ParsedSource;
  read(root: SourceNode, file: string, nearby: Nearby): FileOutcome | Promise<FileOutcome>;
}

/** Reads a file that a configuration file refers to. Only files inside the workspace are read. */
export type Nearby = (path: string) => Promise<SourceText>;

/**
 * Relative to the workspace: one file, the files in a folder with one of the endings, or the files in a tree with one
 * of the names.
 */
export type Place =
  | { readonly file: string }
  | { readonly folder: string; readonly endings: readonly string[] }
  | { readonly tree: string; readonly names: readonly string[] };

/** The place as messages show it: `.mcp/servers/*.{yaml,json}`. */
export function placeText(place: Place): string {
  if ('file' in place) return place.file;
  if ('tree' in place) return `${place.tree}/**/${either(place.names)}`;
  return `${place.folder}/*.${either(place.endings.map((ending) => ending.slice(1)))}`;
}

function either(texts: readonly string[]): string {
  return texts.length === 1 ? (texts[0] ?? '') : `{${texts.join(',')}}`;
}

export type FileOutcome =
  | { readonly kind: 'read'; readonly content: FileContent }
  /** Parsed, but not of this kind. The whole file is ignored. */
  | { readonly kind: 'refused'; readonly finding: Finding }
  /** Another program's file of the same name. */
  | { readonly kind: 'foreign' };

export interface FileContent {
  readonly servers: readonly ServerDraft[];
  /** Servers of other files that this file disables, by name or pattern. At most a few. */
  readonly switchedOff?: readonly { readonly name: string; readonly line: number }[];
  /** The grammar for this file's variables, if it defines it. */
  readonly grammar?: Grammar;
  /** How to write a variable in this file, if it differs from the reader's way. */
  readonly writeVariable?: WriteVariable;
  /** Findings that do not belong to one server. */
  readonly findings: readonly Finding[];
  readonly agents: ReadonlyMap<string, AgentSpec>;
  /** Agents with the role that the file gives them. */
  readonly roles: ReadonlyMap<string, string>;
  readonly policy: ToolPolicy | undefined;
  /** Rules that are tried in place of `policy`. */
  readonly shadow?: ToolPolicy | undefined;
  /** Of a permissions file, one for each of its environments. */
  readonly permissions?: readonly PermissionRules[];
  /** The environment whose permissions apply. */
  readonly environment?: string;
  readonly settings: Settings;
  /** The accepted definitions of servers. */
  readonly lock?: Lockfile;
  readonly mentions: readonly Mention[];
}

/** The content of an empty file. */
export const emptyContent: FileContent = {
  servers: [],
  findings: [],
  agents: new Map(),
  roles: new Map(),
  policy: undefined,
  settings: {},
  mentions: [],
};

export type Settings = Partial<
  Pick<Configuration, 'naming' | 'ledger' | 'serve' | 'approvals' | 'allowPaths' | 'lock'>
>;

/** A server in a route, filter or rule, or a role. Whether it exists is known only after all files are read. */
export interface Mention {
  readonly kind: 'name' | 'pattern' | 'role';
  readonly text: string;
  readonly line: number;
  readonly field: string;
  readonly subject: string;
}
