import type { PlanFile } from '../domain/index.ts';

/** How an approval came about. */
export type TrustSource =
  /** A person answered at a terminal. */
  | 'terminal'
  /** A command named the item, or wrote it. */
  | 'command'
  /** `--trust` covered what was on disk at the start. */
  | 'flag'
  /** The digest of everything on disk was given. */
  | 'digest';

/** The operator's last word about an item on one branch. */
export interface Approval {
  readonly kind: 'server' | 'policy';
  readonly name: string;
  /** Undefined: no version of it is approved on the branch, because it was removed or taken back there. */
  readonly hash: string | undefined;
  /** The branch of git on which it was given. */
  readonly branch: string;
  /** In milliseconds since 1970. */
  readonly at: number;
  readonly how: TrustSource;
  /** The approved version itself, so that it stays in force while a change waits. */
  readonly pin: Pin | undefined;
}

export interface Pin {
  /** The files of the workspace as they were. */
  readonly snapshot: string;
  /** For a server: files whose content was approved with it. */
  readonly files: readonly PlanFile[];
}

export interface DeclinedItem extends Omit<Approval, 'hash' | 'branch' | 'pin'> {
  readonly hash: string;
}

export interface TrustRecord {
  /** At most one for each item on a branch. */
  readonly approvals: readonly Approval[];
  /** Items that a person declined, so that nobody is asked again. */
  readonly declined: readonly DeclinedItem[];
  /** The main checkout of the worktree, as git told when something was approved. Whoever writes files may change git's word. */
  readonly main: string | undefined;
  /** Another folder is at the path of the workspace now. Approvals of servers in the folder before it do not count. */
  readonly replaced?: true;
}

/** Texts of configuration files, by path in the workspace. They may contain secrets. */
export type Snapshot = ReadonlyMap<string, string>;

/** Where approvals are kept. Every change is on disk when its promise resolves. */
export interface TrustStore {
  /** To notice changes. */
  readonly place: string;
  load(): Promise<TrustRecord>;
  /** One process at a time. Snapshots that no approval refers to are removed. */
  update(change: (record: TrustRecord) => TrustRecord, snapshots?: readonly NewSnapshot[]): Promise<TrustRecord>;
  snapshot(id: string): Promise<Snapshot | undefined>;
}

export interface NewSnapshot {
  readonly id: string;
  readonly texts: Snapshot;
}
