import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { errnoOf, HubError, toHubError } from '../../../base/index.ts';
import {
  adoptEarlierTokens,
  adoptState,
  claimWorkspace,
  countTokens,
  createKeychain,
  ensureStateFolder,
  findKeyPlace,
  findMovedState,
  forgetKeychainKey,
  layoutIn,
  listOrphans,
  packState,
  readArchive,
  readServeFile,
  removeState,
  unpackState,
  type WorkspaceLayout,
} from '../../../storage/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import type { StateBackup, StateMigrated, StateMoved, StatePath, StatePruned, StateRestored } from '../state-shapes.ts';
import { confirm } from '../terminal/confirm.ts';
import { plural } from '../terminal/plural.ts';
import { stateLayout } from './state-layout.ts';

const yes = { option: '--yes' };

export function showPath(cli: CliContext, { workspace, json }: Invocation): void {
  const { folder, home, workspace: path } = stateLayout(cli, workspace);
  const answer: StatePath = { folder, home, workspace: path };
  cli.terminal.out(json ? JSON.stringify(answer) : folder);
}

export async function migrateTokens(cli: CliContext, { workspace, json }: Invocation, agreed: boolean): Promise<void> {
  const layout = stateLayout(cli, workspace);
  const waiting = await countTokens(layout, layout.earlierTokens);
  if (waiting > 0) {
    const question = `${plural(waiting, 'agent token')} from an earlier version lay in the workspace. Make them valid again?`;
    if (!agreed && !(await confirm(cli, question, yes))) return cli.terminal.err('Nothing was changed.');
    await adoptEarlierTokens(layout, cli);
  }
  const answer: StateMigrated = { tokens: waiting };
  if (json) cli.terminal.out(JSON.stringify(answer));
  else if (waiting === 0) cli.terminal.err('No tokens of an earlier version wait here.');
  else cli.terminal.err(`${plural(waiting, 'token')} ${waiting === 1 ? 'is' : 'are'} valid again.`);
}

export async function moveState(cli: CliContext, { workspace, json }: Invocation, agreed: boolean): Promise<void> {
  const layout = stateLayout(cli, workspace);
  const moved = findMovedState(layout);
  if (moved === undefined) {
    throw new HubError('USAGE', 'No state of this workspace is kept under another path.', {
      hint: '`qm state path` prints where its state is.',
    });
  }
  if ((await countTokens(layout, layout.tokens)) > 0 || existsSync(layout.secrets)) {
    throw new HubError('USAGE', `This workspace already has tokens or secrets of its own, in ${layout.folder}.`, {
      hint: 'Delete that folder first if you want the state from before.',
    });
  }
  const question = `Use the tokens, keys and audit log from when this workspace was at ${moved.path}?`;
  if (!agreed && !(await confirm(cli, question, yes))) return cli.terminal.err('Nothing was changed.');
  await withoutHub(cli, layout, async () => {
    removeState(layout.home, layout.folder);
    adoptState(layout, moved.folder, cli.random);
  });
  const answer: StateMoved = { from: moved.path, folder: layout.folder };
  if (json) cli.terminal.out(JSON.stringify(answer));
  else cli.terminal.err(`The state of ${moved.path} is this workspace's now.`);
}

export async function pruneStates(cli: CliContext, { workspace, json }: Invocation, agreed: boolean): Promise<void> {
  const { terminal } = cli;
  const { home } = stateLayout(cli, workspace);
  const orphans = listOrphans(home);
  const answer: StatePruned = { removed: orphans.map(({ folder, origin }) => ({ folder, workspace: origin.path })) };
  if (orphans.length > 0) {
    if (!agreed) {
      terminal.err('These workspaces no longer exist:');
      for (const { origin } of orphans) terminal.err(`  ${origin.path}`);
      const question = `Delete their tokens, keys and audit logs?`;
      if (!(await confirm(cli, question, yes))) return terminal.err('Nothing was changed.');
    }
    for (const { folder, origin } of orphans) {
      await forgetKey(cli, layoutIn(origin.path, home, folder));
      removeState(home, folder);
    }
  }
  if (json) terminal.out(JSON.stringify(answer));
  else if (orphans.length === 0) terminal.err('Every workspace with state still exists.');
  else terminal.err(`Deleted the state of ${plural(orphans.length, 'workspace')}.`);
}

/** The rest is deleted even if the keychain refuses. */
async function forgetKey(cli: CliContext, layout: WorkspaceLayout): Promise<void> {
  const { terminal } = cli;
  try {
    await forgetKeychainKey(layout, createKeychain(cli));
  } catch (error) {
    const why = toHubError(error).message;
    terminal.err(`${terminal.errColours.yellow('warning')} A key of ${layout.workspace} stays in the keychain. ${why}`);
  }
}

export async function backUpState(cli: CliContext, { workspace, json }: Invocation, name: string): Promise<void> {
  const file = resolve(cli.cwd, name);
  const layout = stateLayout(cli, workspace);
  const bytes = packState(layout, cli.clock.now());
  try {
    writeFileSync(file, bytes, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    throw fileFailed(error, 'write', file);
  }
  const answer: StateBackup = { file, bytes: bytes.length };
  if (json) return cli.terminal.out(JSON.stringify(answer));
  cli.terminal.err(`Wrote ${file}. It contains keys: keep it like a password.`);
  if ((await findKeyPlace(layout)) !== 'keychain') return;
  cli.terminal.err(
    'The key of the stored secrets is not in it, but in the keychain. To take them to another machine, run `qm secret rotate --key-file` before the backup.',
  );
}

export async function restoreState(
  cli: CliContext,
  { workspace, json }: Invocation,
  name: string,
  agreed: boolean,
): Promise<void> {
  const file = resolve(cli.cwd, name);
  const layout = stateLayout(cli, workspace);
  const archive = readArchive(read(file), file);
  const question = `Replace the state of this workspace by the backup of ${archive.workspace}, made ${archive.created}?`;
  if (!agreed && !(await confirm(cli, question, yes))) return cli.terminal.err('Nothing was changed.');
  const aside = `before-${new Date(cli.clock.now()).toISOString().replace(/[-:]|\.\d+/g, '')}`;
  await withoutHub(cli, layout, async () => {
    await ensureStateFolder(layout, cli);
    await unpackState(layout, archive, aside, { clock: cli.clock, random: cli.random });
  });
  const answer: StateRestored = { folder: layout.folder, files: archive.files.length, before: aside };
  if (json) cli.terminal.out(JSON.stringify(answer));
  else
    cli.terminal.err(
      `Restored ${plural(archive.files.length, 'file')}. The state before is in ${layout.folder}/${aside}.`,
    );
}

/** The state of a running hub must not change under it. */
async function withoutHub(cli: CliContext, layout: WorkspaceLayout, work: () => Promise<void>): Promise<void> {
  const { clock, random } = cli;
  const claim = await claimWorkspace(layout, { clock, random });
  try {
    const running = await readServeFile(layout);
    if (running !== undefined) {
      throw new HubError('STATE_LOCKED', `The state is in use by the hub at ${running.url} (process ${running.pid}).`, {
        hint: 'Stop it with `qm stop`, then try again.',
      });
    }
    await work();
  } finally {
    await claim.release();
  }
}

function read(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw fileFailed(error, 'read', file);
  }
}

function fileFailed(cause: unknown, doing: string, file: string): HubError {
  const errno = errnoOf(cause) ?? 'unknown error';
  const hint = errno === 'EEXIST' ? 'Choose a name that is not taken.' : 'Check the path and its permissions.';
  return new HubError('USAGE', `Cannot ${doing} ${file} (${errno}).`, { hint, cause });
}
