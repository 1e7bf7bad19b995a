/** What a tool does with the path in an argument. `move`: it takes the place of another, or leaves its own. */
export type PathUse = 'read' | 'write' | 'list' | 'move';

export interface PathArgument {
  /** As rules name it: `paths.*` is every item of a list. */
  readonly argument: string;
  readonly use: PathUse;
  /** The argument with the folder that the path is relative to. */
  readonly under?: string;
}

export interface KnownPathTools {
  /** When the arguments were entered here, and the server's version where it was installed and run. */
  readonly observed: { readonly date: string; readonly version?: string };
  /** The server refuses every path outside the folders in its arguments, links followed. */
  readonly isConfined: boolean;
  readonly tools: Readonly<Record<string, readonly PathArgument[]>>;
}

const reads = [{ argument: 'path', use: 'read' }] as const;
const writes = [{ argument: 'path', use: 'write' }] as const;
const lists = [{ argument: 'path', use: 'list' }] as const;
const repository = { argument: 'repo_path', use: 'list' } as const;

/** By the name of the server in the list of known servers. */
export const knownPathTools: Readonly<Record<string, KnownPathTools>> = {
  filesystem: {
    observed: { date: '2026-11-18', version: '2026.8.31' },
    isConfined: true,
    tools: {
      read_file: reads,
      read_text_file: reads,
      read_media_file: reads,
      read_multiple_files: [{ argument: 'paths.*', use: 'read' }],
      write_file: writes,
      edit_file: [...reads, ...writes],
      create_directory: writes,
      delete_file: writes,
      // These show names, not contents.
      list_directory: lists,
      list_directory_with_sizes: lists,
      directory_tree: lists,
      search_files: lists,
      get_file_info: lists,
      move_file: [
        { argument: 'source', use: 'move' },
        { argument: 'destination', use: 'move' },
      ],
    },
  },
  git: {
    observed: { date: '2026-11-18' },
    isConfined: false,
    tools: {
      // What is staged can be read with git_diff_staged.
      git_add: [repository, { argument: 'files.*', use: 'read', under: 'repo_path' }],
      git_init: [{ argument: 'repo_path', use: 'write' }],
    },
  },
};

/** Names that tools of other file servers have for paths. */
export const usualPathArguments: readonly string[] = [
  ...[
    'path',
    'paths.*',
    'file',
    'files.*',
    'file_path',
    'filePath',
    'filepath',
    'filename',
    'dir',
    'directory',
    'folder',
  ],
  ...['source', 'destination', 'src', 'dest', 'from', 'to', 'old_path', 'new_path', 'target', 'relative_path'],
];
