import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import type { TestProject } from 'vitest/node';
import { trustFolder } from './trust-folder.mjs';

/** Writes the settings that trust test workspaces. Afterwards removes them and the state that the tests left. */
export async function setup({ config }: TestProject): Promise<() => Promise<void>> {
  const { QM_STATE_DIR: state, XDG_CONFIG_HOME: settings } = config.env;
  if (typeof settings !== 'string' || typeof state !== 'string') throw new Error('vitest.config.ts sets both.');
  trustFolder(settings, tmpdir());
  return () => rm(dirname(state), { recursive: true, force: true, maxRetries: 3 });
}
