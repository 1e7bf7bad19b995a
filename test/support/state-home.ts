import { rm } from 'node:fs/promises';
import type { LedgerPlaces } from '../../src/ledger/index.ts';
import { ledgerPlaces, stateHome, type WorkspaceLayout, workspaceLayout } from '../../src/storage/index.ts';

/**
 * Where the state of test workspaces is kept, and the settings that trust them: a program that a test starts needs both in
 * its environment. The keychain of the person who runs the tests is left alone.
 */
export const stateEnv = {
  QM_STATE_DIR: stateHome(process.env),
  XDG_CONFIG_HOME: process.env.XDG_CONFIG_HOME ?? '/nonexistent',
  QM_KEYCHAIN: 'off',
  // A hub in the background would outlive the test that started it.
  QM_FOREGROUND: '1',
};

export function layoutOf(workspace: string): WorkspaceLayout {
  return workspaceLayout(workspace, stateEnv.QM_STATE_DIR);
}

export async function removeState(workspace: string): Promise<void> {
  await rm(layoutOf(workspace).folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Where the hubs of these tests record the calls of a workspace. */
export function ledgerOf(workspace: string): LedgerPlaces {
  return ledgerPlaces(layoutOf(workspace));
}
