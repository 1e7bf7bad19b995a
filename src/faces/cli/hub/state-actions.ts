import { existsSync } from 'node:fs';
import { HubError, toHubError } from '../../../base/index.ts';
import {
  adoptEarlierTokens,
  adoptState,
  countTokens,
  createKeychain,
  findMovedState,
  forgetKeychainKey,
  layoutIn,
  listOrphans,
  removeState,
  type WorkspaceLayout,
} from '../../../storage/index.ts';
import { onRecord } from '../acts/operator-log.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import type { StateMigrated, StateMoved, StatePath, StatePruned } from '../state-shapes.ts';
import { confirm } from '../terminal/confirm.ts';
import { plural } from '../terminal/plural.ts';
import { stateLayout } from './state-layout.ts';
import { withoutHub } from './without-hub.ts';

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
    const act = { what: 'token.adopted', subject: plural(waiting, 'token'), detail: 'of an earlier version' } as const;
    await onRecord(cli, workspace, [act], () => adoptEarlierTokens(layout, cli));
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
