import type { ClientConnection, ConnectedFile } from '../../../clients/index.ts';
import { isReadFile } from '../../../config/index.ts';
import type { CliContext } from '../context.ts';
import { withConfigLock } from '../servers/config-change.ts';
import { beforeWriting, type WrittenApproval } from '../trust/approve-written.ts';
import { tellHubOfTrust } from '../trust/tell-hub.ts';
import { openConnections } from './connection-store.ts';
import { type FileDraft, isLeftEmpty } from './file-drafts.ts';
import { type ConnectionPlan, isChanged } from './plan-connection.ts';
import { switchedEntries } from './plan-switch.ts';
import { type WrittenFile, writeFiles } from './write-files.ts';

/** Writes what was planned, if every file is still as it was. What it moves between files is approved by this act. */
export async function applyConnection(cli: CliContext, plan: ConnectionPlan): Promise<readonly WrittenFile[]> {
  const { order, switches } = plan;
  const { workspace } = order.at;
  const changed = plan.files.filter(isChanged);
  const moved = switchedEntries(switches).flatMap(({ how, server }) => (how === 'moved' ? [server] : []));
  return withConfigLock(cli, workspace, async () => {
    const store = await openConnections(cli, workspace);
    const approval = await beforeWriting(cli, workspace);
    refuseOthers(approval, workspace, changed);
    // First the record, so that whatever is written can be undone.
    await store.save(connectionOf(cli, plan, []));
    const written = await writeFiles({ random: cli.random, store }, order.at, changed).catch(async (error: unknown) => {
      const { client, earlier } = order;
      await (earlier === undefined ? store.remove(client.name) : store.save(earlier));
      throw error;
    });
    await store.save(connectionOf(cli, plan, written));
    await approveTexts(approval, workspace, changed, moved);
    if (changed.some(({ path }) => path.startsWith(`${workspace}/`))) await tellHubOfTrust(cli, workspace);
    return written;
  });
}

/** Throws if a file of the workspace is not the one whose servers were judged. */
export function refuseOthers(approval: WrittenApproval, workspace: string, files: readonly FileDraft[]): void {
  for (const { name, file } of inWorkspace(workspace, files)) approval.refuseOther(name, file.onDisk);
}

export async function approveTexts(
  approval: WrittenApproval,
  workspace: string,
  files: readonly FileDraft[],
  servers: readonly string[],
): Promise<void> {
  const texts = inWorkspace(workspace, files).map(({ name, file }): [string, string | undefined] => {
    return [name, isLeftEmpty(file) ? undefined : file.steps.after];
  });
  if (texts.length > 0) await approval.approve(new Map(texts), servers);
}

/** Files that the hub reads. Others in the workspace are none of its business. */
function inWorkspace(workspace: string, files: readonly FileDraft[]): { name: string; file: FileDraft }[] {
  return files.flatMap((file) => {
    const name = file.path.startsWith(`${workspace}/`) ? file.path.slice(workspace.length + 1) : undefined;
    return name === undefined || !isReadFile(name) ? [] : [{ name, file }];
  });
}

function connectionOf({ clock }: CliContext, plan: ConnectionPlan, written: readonly WrittenFile[]): ClientConnection {
  const { order, entry, place, files, switches } = plan;
  const { client, agent, draft, earlier } = order;
  return {
    client: client.name,
    agent,
    entry,
    file: place.path,
    scope: place.scope,
    transport: draft.kind,
    connectedAt: clock.now(),
    files: files.map((file) => connectedFile(file, written, earlier)).filter(({ steps }) => steps.taken.length > 0),
    switchedOff: switchedEntries(switches),
  };
}

function connectedFile(
  { path, dialect, existed, madeFolder, steps }: FileDraft,
  written: readonly WrittenFile[],
  earlier: ClientConnection | undefined,
): ConnectedFile {
  const made = written.find((each) => each.path === path)?.madeFolder ?? madeFolder;
  const known = earlier?.files.find((each) => each.path === path);
  return {
    path,
    dialect,
    existed: known?.existed ?? existed,
    ...(made === undefined ? {} : { madeFolder: made }),
    steps,
  };
}
