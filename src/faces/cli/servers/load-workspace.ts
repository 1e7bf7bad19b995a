import {
  type LoadDeps,
  type LoadedConfiguration,
  type LoadOptions,
  loadWithSources,
  type SecretValues,
} from '../../../config/index.ts';
import type { Configuration } from '../../../domain/index.ts';
import { createFileSecretStore, createKeychain, protectedPlaces } from '../../../storage/index.ts';
import { createSecretBook, type SecretBook } from '../../../vault/index.ts';
import type { CliContext } from '../context.ts';
import { stateLayout } from '../hub/state-layout.ts';

type Process = Pick<CliContext, 'env' | 'clock' | 'random'> & Partial<Pick<CliContext, 'terminal'>>;

/** The secret store of the workspace. */
export function openSecretBook({ env, clock, random, terminal }: Process, workspace: string): SecretBook {
  const onWait = (): void => terminal?.progress('Waiting for the keychain, which may ask for its password …');
  const keychain = createKeychain({ clock, env, onWait });
  const store = createFileSecretStore(stateLayout({ env }, workspace), { clock, random, keychain });
  return createSecretBook({ clock, random, store });
}

/** The configuration as a hub would use it. */
export async function loadWorkspace(cli: Process, workspace: string): Promise<Configuration> {
  return (await loadWithUses(cli, workspace)).configuration;
}

/** The same, with the variables that each server refers to. */
export function loadWithUses(
  cli: Process,
  workspace: string,
  book: SecretBook = openSecretBook(cli, workspace),
  instead?: LoadOptions['instead'],
): Promise<LoadedConfiguration> {
  return loadWithSources(loadDeps(cli, workspace, book), { workspace, instead });
}

/** What the files of a workspace are read with. With one book for several loads, a keychain is asked once. */
export function loadDeps(cli: Process, workspace: string, book: SecretBook = openSecretBook(cli, workspace)): LoadDeps {
  const { env } = cli;
  return { env, secrets: secretValues(cli, workspace, book), protectedPlaces: protectedPlaces(env) };
}

export function secretValues(
  cli: Process,
  workspace: string,
  book: SecretBook = openSecretBook(cli, workspace),
): SecretValues {
  return { file: stateLayout(cli, workspace).secrets, values: () => book.values() };
}
