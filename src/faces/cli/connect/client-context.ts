import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { HubError } from '../../../base/index.ts';
import type { ClientContext } from '../../../clients/index.ts';
import { findMainCheckout } from '../../../workspace-trust/index.ts';
import type { CliContext } from '../context.ts';
import { stateLayout } from '../hub/state-layout.ts';

/** Where the clients of this user have their files. */
export async function readClientContext({ env }: Pick<CliContext, 'env'>, given: string): Promise<ClientContext> {
  const { HOME: home } = env;
  if (home === undefined || !isAbsolute(home)) {
    throw new HubError('CONFIG_INVALID', 'HOME is not set, so the files of clients cannot be found.', {
      hint: 'Set HOME to your home folder.',
    });
  }
  // Clients know a folder by its real path.
  const { workspace } = stateLayout({ env }, given);
  const checkout = (await findMainCheckout(workspace)) ?? workspace;
  const project = repositoryOf(checkout) ?? workspace;
  return { env, home, platform: process.platform, workspace, project, exists: existsSync };
}

/** The folder with `.git` that a folder is in. */
export function repositoryOf(folder: string): string | undefined {
  for (let here = folder; ; here = dirname(here)) {
    if (existsSync(join(here, '.git'))) return here;
    if (dirname(here) === here) return undefined;
  }
}

/** A path as people write it: relative to the workspace, or with `~`. */
export function shownPath({ workspace, home }: Pick<ClientContext, 'workspace' | 'home'>, path: string): string {
  if (path.startsWith(`${workspace}/`)) return path.slice(workspace.length + 1);
  return home !== '/' && path.startsWith(`${home}/`) ? `~/${path.slice(home.length + 1)}` : path;
}
