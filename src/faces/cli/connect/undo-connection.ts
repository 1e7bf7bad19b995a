import { HubError } from '../../../base/index.ts';
import type { ClientConnection, ClientContext, ConnectedFile } from '../../../clients/index.ts';
import { undoSteps } from '../../../workspace-files/index.ts';
import type { CliContext } from '../context.ts';
import { withConfigLock } from '../servers/config-change.ts';
import { beforeWriting } from '../trust/approve-written.ts';
import { tellHubOfTrust } from '../trust/tell-hub.ts';
import { approveTexts, refuseOthers } from './apply-connection.ts';
import { shownPath } from './client-context.ts';
import { openConnections } from './connection-store.ts';
import { type FileDraft, refuseBrokenText } from './file-drafts.ts';
import { openClientFile } from './open-client-file.ts';
import { isChanged } from './plan-connection.ts';
import { type WrittenFile, writeFiles } from './write-files.ts';

/** Everything that disconnecting would change. */
export interface UndoPlan {
  readonly connection: ClientConnection;
  readonly files: readonly FileDraft[];
  /** What the connection wrote and somebody changed since: file and keys. */
  readonly changed: readonly string[];
}

export async function planUndo(
  cli: Pick<CliContext, 'random'>,
  at: ClientContext,
  connection: ClientConnection,
): Promise<UndoPlan> {
  const files: FileDraft[] = [];
  const changed: string[] = [];
  for (const file of connection.files) {
    const opened = await openClientFile(cli, at, file.path);
    const onDisk = opened.file.text;
    // Whoever deleted the file has undone it.
    if (onDisk === undefined) continue;
    const outcome = undoSteps(file.steps, onDisk, file.dialect);
    if (outcome.kind === 'refused') throw cannotUndo(at, file, { ...draftOf(file, onDisk), opened, onDisk });
    changed.push(...outcome.changed.map((keys) => `${shownPath(at, file.path)}: ${keys.join('.')}`));
    files.push({ ...draftOf(file, outcome.text), opened, onDisk });
  }
  return { connection, files: files.filter(isChanged), changed };
}

function draftOf(
  { path, dialect, existed, madeFolder }: ConnectedFile,
  after: string,
): Omit<FileDraft, 'opened' | 'onDisk'> {
  return { path, dialect, existed, madeFolder, steps: { taken: [], splices: [], after } };
}

function cannotUndo(at: ClientContext, { path }: ConnectedFile, draft: FileDraft): HubError {
  refuseBrokenText(at, draft);
  return new HubError('CONFIG_INVALID', `${shownPath(at, path)} has a form in which the entry cannot be undone.`, {
    hint: 'Nothing was written. Remove the entry with an editor; `qm state path` has the backups.',
  });
}

export async function applyUndo(
  cli: CliContext,
  at: ClientContext,
  { connection, files }: UndoPlan,
): Promise<readonly WrittenFile[]> {
  const { workspace } = at;
  const moved = connection.switchedOff.flatMap(({ how, server }) => (how === 'moved' ? [server] : []));
  return withConfigLock(cli, workspace, async () => {
    const store = await openConnections(cli, workspace);
    const approval = await beforeWriting(cli, workspace);
    refuseOthers(approval, workspace, files);
    const written = await writeFiles({ random: cli.random, store }, at, files);
    await store.remove(connection.client);
    await approveTexts(approval, workspace, files, moved);
    if (files.some(({ path }) => path.startsWith(`${workspace}/`))) await tellHubOfTrust(cli, workspace);
    return written;
  });
}
