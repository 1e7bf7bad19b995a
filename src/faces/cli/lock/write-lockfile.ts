import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { HubError } from '../../../base/index.ts';
import { formatLockfile, type Lockfile, lockfileName, parseLockfile } from '../../../config/index.ts';
import { openFile } from '../../../workspace-files/index.ts';
import type { CliContext } from '../context.ts';
import { withConfigLock } from '../servers/config-change.ts';
import { beforeWriting } from '../trust/approve-written.ts';

export interface LockfileOrder {
  /** Servers whose entries the operator means. What is written about them is approved by this act. */
  readonly servers: readonly string[];
  /** Ignore what is in the file. */
  readonly fresh?: boolean | undefined;
  change(before: Lockfile | undefined): Lockfile;
}

export interface WrittenLockfile {
  readonly written: boolean;
  /** What is in the file now. */
  readonly lockfile: Lockfile;
  /** Servers that were changed since they were approved, so that writing does not approve them. */
  readonly waits: readonly string[];
}

/** Changes the lockfile, and approves the change as the operator's own. */
export function writeLockfile(cli: CliContext, workspace: string, order: LockfileOrder): Promise<WrittenLockfile> {
  return withConfigLock(cli, workspace, async () => {
    const path = join(workspace, lockfileName);
    const approval = await beforeWriting(cli, workspace);
    const beforeChange = (): Promise<void> => refuseLink(path);
    await beforeChange();
    const opened = await openFile({ random: cli.random, beforeChange }, path, lockfileName);
    approval.refuseOther(lockfileName, opened.text);
    const isRead = opened.text !== undefined && order.fresh !== true;
    const lockfile = order.change(isRead ? parseLockfile(opened.text) : undefined);
    const text = formatLockfile(lockfile);
    const written = text !== opened.text;
    if (written) await opened.replace(text);
    const waits = written ? await approval.approve(new Map([[lockfileName, text]]), order.servers) : [];
    return { written, lockfile, waits };
  });
}

/** Whoever writes the workspace may have put a link there. */
async function refuseLink(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSymbolicLink() !== true) return;
  throw new HubError('CONFIG_INVALID', `${lockfileName} is a symbolic link; nothing is written through it.`, {
    hint: 'Replace it with a file, then try again.',
  });
}
