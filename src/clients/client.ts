import type { Dialect, FileStep, KeyPath, Plain } from '../workspace-files/index.ts';

/** Who sees an entry: this user in this project, everybody in the project, or this user everywhere. */
export const clientScopes = ['local', 'project', 'user'] as const;

export type ClientScope = (typeof clientScopes)[number];

/** Where a client runs. */
export interface ClientContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The home folder of the user. */
  readonly home: string;
  readonly platform: string;
  readonly workspace: string;
  /** The folder by which clients know the project: the repository, or the workspace. */
  readonly project: string;
  exists(path: string): boolean;
}

/** A file of a client that may have entries for servers. */
export interface ClientFile {
  readonly path: string;
  readonly scope: ClientScope;
  readonly dialect: Exclude<Dialect, 'yaml'>;
  /** The keys that lead to its servers. */
  readonly servers: KeyPath;
  /** The entries for servers in that text. */
  entries(text: string): readonly ClientEntry[];
  /**
   * The same text as a file of a project that the hub can read. Its servers have the names of the entries. Undefined if
   * it has none.
   */
  readAs(text: string): ProjectText | undefined;
}

/** A server in a file of a client. */
export interface ClientEntry {
  readonly key: string;
  /** The keys that lead to it, its own last. */
  readonly path: KeyPath;
}

export interface ProjectText {
  readonly file: string;
  readonly text: string;
}

/** Reads a file; undefined if it is missing. */
export type TextOf = (path: string) => string | undefined;

/** The entry for the hub, before it has the form of a client. */
export type HubEntry =
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    }
  /** The token is in a variable of the client's environment. */
  | { readonly kind: 'http'; readonly url: string; readonly tokenVariable: string };

/** How a client stops using one of its own entries. */
export type SwitchOrder =
  /** By a setting of the client that the hub does not read. */
  | ({ readonly kind: 'setting' } & FileSteps & { readonly reach: SettingReach })
  /** The client has no such setting, and the hub does not read that file. */
  | { readonly kind: 'remove' }
  /** The hub reads that file too, so the entry has to move to a file that only the hub reads. */
  | { readonly kind: 'move' }
  | { readonly kind: 'none'; readonly why: string };

/** Where a setting takes effect. */
export type SettingReach = 'project' | 'everywhere';

export interface FileSteps {
  readonly path: string;
  readonly dialect: ClientFile['dialect'];
  readonly steps: readonly FileStep[];
}

/** A program that speaks MCP to the hub, and its files. */
export interface Client {
  readonly name: string;
  readonly title: string;
  /** Other words for it. */
  readonly aliases: readonly string[];
  /** Every file that it takes servers from. */
  files(at: ClientContext): readonly ClientFile[];
  /** Where the hub can be written, the best place first. */
  places(at: ClientContext): readonly ClientFile[];
  /** Why a place will not do, as half a sentence that begins with the file. */
  unusable?(place: ClientFile, at: ClientContext, textOf: TextOf): string | undefined;
  /** Undefined if the client cannot use such an entry. */
  write(draft: HubEntry): Readonly<Record<string, Plain>> | undefined;
  /** Further steps without which the client ignores the entry. */
  admit?(name: string, at: ClientContext, textOf: TextOf): readonly FileSteps[];
  switchOff(file: ClientFile, entry: ClientEntry, at: ClientContext): SwitchOrder;
  /** Whether an entry itself says that the client does not use it. Without this, such a key changes nothing for the client. */
  isOff?(entry: Readonly<Record<string, unknown>>): boolean;
  /** Paths that show that the client is used on this machine. */
  traces(at: ClientContext): readonly string[];
  /** How it gets to know the new entry, as a sentence. */
  readonly restart: string;
}
