import {
  type LoadDeps,
  type LoadedConfiguration,
  type LoadOptions,
  loadWithSources,
  type SourceText,
} from '../config/index.ts';
import type { ConfigurationTrust } from './configuration-trust.ts';
import { openTrust, type TrustDeps, type TrustOptions } from './open-trust.ts';
import { retainApproved, type StartingFiles } from './retain-approved.ts';

export interface LoadTrustedDeps extends Omit<TrustDeps, 'loadTexts'> {
  /** What the files are read with. Its environment may be another one than the operator's. */
  readonly loading: LoadDeps;
}

/** The files of a workspace as they are read at a start, and what of them is trusted. */
export interface TrustedFiles {
  /** Reads the files again, with these texts in place of what is on disk. */
  load(instead?: LoadOptions['instead']): Promise<LoadedConfiguration>;
  /** As they are on disk. */
  readonly disk: LoadedConfiguration;
  readonly trust: ConfigurationTrust;
  /** With the approved texts of files that are missing, empty or unreadable. */
  readonly files: StartingFiles;
}

/** Reads a workspace with the trust in it. */
export async function loadTrusted(deps: LoadTrustedDeps, options: TrustOptions): Promise<TrustedFiles> {
  const { loading, ...trustDeps } = deps;
  const { workspace } = options;
  const load: TrustedFiles['load'] = (instead) => loadWithSources(loading, { workspace, instead });
  const loadTexts = (texts: ReadonlyMap<string, SourceText>): Promise<LoadedConfiguration> =>
    loadWithSources(loading, { workspace, instead: texts, only: true });
  const trustIn = await openTrust({ ...trustDeps, loadTexts }, options);
  const disk = await load();
  const trust = trustIn(disk);
  return { load, disk, trust, files: await retainApproved(load, trust, disk) };
}
