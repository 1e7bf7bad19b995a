import { ensureStateFolder, openStateFolder, type WorkspaceLayout } from '../../storage/index.ts';
import type { CliContext } from './context.ts';
import { createLogger } from './logger.ts';

/** Where the state folder was not made here, whoever runs a command hears that its tokens are no longer valid. */
export async function sayIfUntrusted(cli: CliContext, layout: WorkspaceLayout): Promise<void> {
  const folder = openStateFolder(layout);
  folder?.close();
  const { clock, random } = cli;
  if (folder !== undefined) await ensureStateFolder(layout, { clock, random, logger: createLogger(cli, 'warn') });
}
