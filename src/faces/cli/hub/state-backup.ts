import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { errnoOf, HubError } from '../../../base/index.ts';
import {
  ensureHomeKey,
  ensureStateFolder,
  findKeyPlace,
  isAuthentic,
  packState,
  readArchive,
  readHomeKey,
  type StateArchive,
  unpackState,
} from '../../../storage/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import type { StateBackup, StateRestored } from '../state-shapes.ts';
import { confirm } from '../terminal/confirm.ts';
import { plural } from '../terminal/plural.ts';
import { refuseSharedPlace } from './backup-place.ts';
import { stateLayout } from './state-layout.ts';
import { withoutHub } from './without-hub.ts';

export interface BackupArguments {
  readonly force?: boolean;
}

export async function backUpState(
  cli: CliContext,
  { workspace, json }: Invocation,
  name: string,
  { force = false }: BackupArguments,
): Promise<void> {
  const file = resolve(cli.cwd, name);
  const layout = stateLayout(cli, workspace);
  if (!force) refuseSharedPlace(file, layout.workspace);
  if (!existsSync(layout.folder)) {
    throw new HubError('USAGE', `There is no state for ${layout.workspace} yet.`, { hint: 'Start `qm serve` once.' });
  }
  await ensureStateFolder(layout, cli);
  const bytes = packState(layout, cli.clock.now(), await ensureHomeKey(layout, cli.random));
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

export interface RestoreArguments {
  readonly yes?: boolean;
  readonly unverified?: boolean;
}

export async function restoreState(
  cli: CliContext,
  { workspace, json }: Invocation,
  name: string,
  { yes = false, unverified = false }: RestoreArguments,
): Promise<void> {
  const file = resolve(cli.cwd, name);
  const layout = stateLayout(cli, workspace);
  const archive = readArchive(read(file), file);
  const key = await readHomeKey(layout);
  if (key === undefined || !isAuthentic(archive, key)) warnUnverified(cli, archive, file, unverified);
  const question = `Replace the state of this workspace by the backup of ${archive.workspace}, made ${archive.created}?`;
  if (!yes && !(await confirm(cli, question, { option: '--yes' }))) return cli.terminal.err('Nothing was changed.');
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

/** Whoever can change a backup could bring tokens and approvals of their own. */
function warnUnverified(cli: CliContext, archive: StateArchive, file: string, agreed: boolean): void {
  if (!agreed) {
    throw new HubError('USAGE', `${file} was changed since it was written, or comes from another state folder.`, {
      hint: 'If it comes from another machine and nobody could change it on the way, add --unverified.',
    });
  }
  const { terminal } = cli;
  terminal.err(`${terminal.errColours.yellow('warning')} Nobody can tell whether ${file} was changed. It brings:`);
  const names = [...new Set(archive.files.map(({ path: [first] }) => first))];
  for (const name of names.slice(0, mostNames)) terminal.err(`  ${name}${meanings.get(name) ?? ''}`);
  if (names.length > mostNames) terminal.err(`  and ${names.length - mostNames} more`);
}

const mostNames = 20;

const meanings: ReadonlyMap<string, string> = new Map([
  ['tokens.json', ': tokens that agents connect with'],
  ['admin-token', ': the token of the operator'],
  ['state-key', ': the key that signs what clients hold'],
  ['trust.json', ': approvals of servers and rules'],
  ['trust-texts.json', ': the approved configuration'],
  ['secrets.json', ': secrets that servers get'],
  ['secret-keys.json', ': the key of these secrets'],
  ['journal', ': records of calls'],
]);

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
