import type { SecretValues } from '../config/index.ts';
import { createFileSecretStore, createKeychain, workspaceLayout } from '../storage/index.ts';
import { createSecretBook } from '../vault/index.ts';
import type { HubDeps, HubOptions } from './hub.ts';

/** The secret store of a file workspace, for variables. */
export function workspaceSecrets(
  { clock, random, env, userEnv = env }: Pick<HubDeps, 'clock' | 'random' | 'env' | 'userEnv'>,
  { workspace, stateHome }: Pick<HubOptions, 'workspace' | 'stateHome'>,
): SecretValues {
  const layout = workspaceLayout(workspace, stateHome);
  const keychain = createKeychain({ clock, env: userEnv });
  const book = createSecretBook({ clock, random, store: createFileSecretStore(layout, { clock, random, keychain }) });
  return { file: layout.secrets, values: () => book.values() };
}
