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

export interface Approval {
  readonly hash: string;
  readonly kind: 'server' | 'policy';
  readonly name: string;
  /** In milliseconds since 1970. */
  readonly at: number;
  readonly how: TrustSource;
}

/** The version of an item that was approved last, so that it stays in force while a change waits. */
export interface Pin {
  readonly hash: string;
  /** The files of the workspace as they were. */
  readonly snapshot: string;
  /** For a server: files whose content was approved with it. */
  readonly files: readonly PlanFile[];
}

export interface TrustRecord {
  readonly approved: readonly Approval[];
  /** Items that a person declined, so that nobody is asked again. */
  readonly declined: readonly Approval[];
  readonly servers: ReadonlyMap<string, Pin>;
  readonly policy: Pin | undefined;
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
  /** One process at a time. Snapshots that no pin refers to any more are removed. */
  update(change: (record: TrustRecord) => TrustRecord, snapshot?: NewSnapshot): Promise<TrustRecord>;
  snapshot(id: string): Promise<Snapshot | undefined>;
}

export interface NewSnapshot {
  readonly id: string;
  readonly texts: Snapshot;
}
