import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { errnoOf, type GuardedPlace } from '../../base/index.ts';

/** The paths of a file workspace's state. */
export interface WorkspaceLayout {
  /** The real path of the workspace. */
  readonly workspace: string;
  /** The state of all workspaces. */
  readonly home: string;
  /** The state of this workspace, in `home`. */
  readonly folder: string;
  readonly tokens: string;
  /** Tokens that an earlier version issued, until the operator confirms them. */
  readonly earlierTokens: string;
  readonly catalog: string;
  readonly adminToken: string;
  readonly stateKey: string;
  /** The operator's secrets, sealed. */
  readonly secrets: string;
  /** The key of the sealed secrets, where no keychain holds it. */
  readonly secretKeys: string;
  /** Approvals of servers and of the policy. */
  readonly trust: string;
  /** The files that were approved last, sealed. */
  readonly trustTexts: string;
  /** The key of approvals, in `home`: a worktree shares the approvals of its main checkout. */
  readonly trustKey: string;
  /** The clients that `qm connect` changed, sealed. */
  readonly connections: string;
  /** Files of clients as they were before that. */
  readonly backups: string;
  /** The key of the state home: running hubs prove by it that they are this user's, and backups that they are unchanged. */
  readonly homeKey: string;
  /** The labels of runs. */
  readonly runLabels: string;
  /** Approvals of calls and standing grants, sealed. */
  readonly approvals: string;
  /** Tells the current store of approvals from earlier copies of it. */
  readonly approvalsEpoch: string;
  readonly serve: string;
  readonly journal: string;
  readonly locks: string;
}

export function workspaceLayout(workspace: string, home: string): WorkspaceLayout {
  const root = realPath(workspace);
  return layoutIn(root, home, join(home, 'workspaces', folderName(root)));
}

export function layoutIn(workspace: string, home: string, folder: string): WorkspaceLayout {
  return {
    workspace,
    home,
    folder,
    tokens: join(folder, 'tokens.json'),
    earlierTokens: join(folder, 'earlier-tokens.json'),
    catalog: join(folder, 'catalog.json'),
    adminToken: join(folder, 'admin-token'),
    stateKey: join(folder, 'state-key'),
    secrets: join(folder, 'secrets.json'),
    secretKeys: join(folder, 'secret-keys.json'),
    trust: join(folder, 'trust.json'),
    trustTexts: join(folder, 'trust-texts.json'),
    trustKey: join(home, 'trust-key'),
    connections: join(folder, 'connections.json'),
    backups: join(folder, 'backups'),
    homeKey: join(home, 'home-key'),
    runLabels: join(folder, 'run-labels.jsonl'),
    approvals: join(folder, 'approvals.jsonl'),
    approvalsEpoch: join(folder, 'approvals-epoch'),
    serve: join(folder, 'serve.json'),
    journal: join(folder, 'journal'),
    locks: join(folder, 'lock'),
  };
}

/** Where a path of the state lies: below the folder that the operator chose, no level may be a link. */
export function placeIn({ home }: Pick<WorkspaceLayout, 'home'>, path: string): GuardedPlace {
  const root = dirname(home);
  return {
    root,
    names: path
      .slice(root === '/' ? 1 : root.length + 1)
      .split('/')
      .filter((name) => name !== ''),
  };
}

/** Where the ledger of the workspace writes. */
export function ledgerPlaces(layout: WorkspaceLayout): { readonly workspace: string; readonly journal: GuardedPlace } {
  return { workspace: layout.workspace, journal: placeIn(layout, layout.journal) };
}

/** The name is for people; the digest makes it unique. */
function folderName(workspace: string): string {
  const name = basename(workspace)
    .replace(/[^A-Za-z0-9._-]/g, '_')
    .slice(0, 40);
  return `${name}-${createHash('sha256').update(workspace).digest('hex').slice(0, digestLength)}`;
}

const digestLength = 24;

/** A workspace has one state, whichever link leads to it. */
function realPath(workspace: string): string {
  try {
    return realpathSync(workspace);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return resolve(workspace);
    throw error;
  }
}
