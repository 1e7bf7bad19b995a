import { HubError } from '../../../base/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { confirm } from '../terminal/confirm.ts';
import { printableLine } from '../terminal/printable.ts';
import { canAsk } from '../trust/trust-prompt.ts';
import { readClientContext, shownPath } from './client-context.ts';
import { pickClient } from './client-list.ts';
import { findConnection, refuseUnasked } from './connect-action.ts';
import type { DisconnectAnswer } from './connect-shapes.ts';
import { fileLines } from './preview-lines.ts';
import { maskSecrets } from './text-secrets.ts';
import { applyUndo, planUndo, type UndoPlan } from './undo-connection.ts';
import type { WrittenFile } from './write-files.ts';

export interface DisconnectOptions {
  readonly yes?: boolean;
  /** Undo what was changed by hand, too. */
  readonly force?: boolean;
}

/** `qm disconnect CLIENT` */
export async function disconnect(
  cli: CliContext,
  invocation: Invocation,
  word: string,
  options: DisconnectOptions,
): Promise<void> {
  const { terminal } = cli;
  const client = pickClient(word);
  const at = await readClientContext(cli, invocation.workspace);
  const connection = await findConnection(cli, at, client);
  if (connection === undefined) {
    const answer: DisconnectAnswer = { client: client.name, connected: false, files: [], restored: [] };
    if (invocation.json) terminal.out(JSON.stringify(answer));
    else terminal.out(`${client.title} is not connected to this workspace. Nothing was changed.`);
    return;
  }
  const plan = await planUndo(cli, at, connection);
  await maskSecrets(cli, { client, at }, plan.files);
  if (!invocation.json) for (const line of await fileLines(cli, at, plan.files)) terminal.errWhole(line);
  if (!(await isAgreed(cli, invocation, plan, options))) {
    terminal.err('Nothing was written.');
    return;
  }
  const written = await applyUndo(cli, at, plan);
  const restored = connection.switchedOff.map(({ key }) => key);
  const files = written.map(({ path, change, backup }) => ({ path, change, backup }));
  const answer: DisconnectAnswer = { client: client.name, connected: true, files, restored };
  if (invocation.json) {
    terminal.out(JSON.stringify(answer));
    return;
  }
  terminal.out(`${client.title} is not connected to this workspace any more.`);
  for (const { path, backup } of written.filter(hasBackup)) {
    terminal.err(`Backup of ${shownPath(at, path)}: ${shownPath(at, backup ?? '')}`);
  }
  if (restored.length > 0)
    terminal.err(`${client.title} uses these directly again: ${restored.map(printableLine).join(', ')}.`);
  terminal.err(`Restart ${client.title}: until then it may still use the hub.`);
}

function hasBackup({ backup }: WrittenFile): boolean {
  return backup !== null;
}

async function isAgreed(
  cli: CliContext,
  invocation: Invocation,
  { files, changed }: UndoPlan,
  { yes = false, force = false }: DisconnectOptions,
): Promise<boolean> {
  if (force) return true;
  if (changed.length > 0) return await isChangeAgreed(cli, invocation, changed);
  if (yes || files.length === 0) return true;
  refuseUnasked(cli, invocation);
  return await confirm(cli, 'Write this?', { option: '--yes', usual: 'yes' });
}

/** Whoever changed the entry may want to keep it. */
async function isChangeAgreed(cli: CliContext, { json }: Invocation, changed: readonly string[]): Promise<boolean> {
  const places = changed.map(printableLine).join(', ');
  const message = `What \`qm connect\` wrote was changed since (${places}).`;
  if (!canAsk(cli) || json) {
    throw new HubError('USAGE', `${message} Nothing was written.`, { hint: 'Add --force to undo it all the same.' });
  }
  return await confirm(cli, `${message} Undo it all the same?`, { option: '--force' });
}
