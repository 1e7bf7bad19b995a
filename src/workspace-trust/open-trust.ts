import { type Clock, HubError, type RandomBytes } from '../base/index.ts';
import { isBelow, type LoadedConfiguration, readUserSettings } from '../config/index.ts';
import { createFileTrustStore, readTrustKey, type WorkspaceLayout, workspaceLayout } from '../storage/index.ts';
import { digestPattern, type TrustStore } from '../trust/index.ts';
import { createTextSeal } from '../vault/index.ts';
import type { ConfigurationTrust } from './configuration-trust.ts';
import { headFile, readBranch } from './git-branch.ts';
import { findMainCheckout } from './main-checkout.ts';
import { StoredTrust, type StoredTrustDeps } from './stored-trust.ts';
import { trustEverything } from './trust-everything.ts';
import type { TrustPlace } from './trust-records.ts';

/** `stored`: what the operator approved. `all`: whatever the files say. */
export type TrustMode = 'stored' | 'all';

export interface TrustDeps {
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly loadTexts: StoredTrustDeps['loadTexts'];
}

export interface TrustOptions {
  readonly workspace: string;
  readonly stateHome: string;
  readonly mode: TrustMode;
}

/** The trust in a file workspace. The first load of its configuration comes with it. */
export async function openTrust(
  deps: TrustDeps,
  options: TrustOptions,
): Promise<(first: LoadedConfiguration) => ConfigurationTrust> {
  const { env, random, loadTexts } = deps;
  const layout = workspaceLayout(options.workspace, options.stateHome);
  if (await trustsAll(deps, options)) return (first) => trustEverything(random(32), first);
  const digest = pinnedDigest(env);
  let known: TrustPlace | undefined;

  async function place(): Promise<TrustPlace> {
    if (known !== undefined) return known;
    const kept = await readTrustKey(layout);
    // A key that nobody keeps matches nothing that was ever approved.
    const key = kept ?? unkept;
    const found = await openTrustPlace(deps, layout, key);
    if (kept !== undefined) known = found;
    return found;
  }

  const unkept = random(32);
  return () => new StoredTrust({ place, digest, loadTexts });
}

/** The files whose changes are changes of what is trusted. */
export async function trustFiles(workspace: string, stateHome: string): Promise<readonly string[]> {
  const { trust, trustKey } = workspaceLayout(workspace, stateHome);
  const head = await headFile(workspace);
  return [trust, trustKey, ...(head === undefined ? [] : [head])];
}

export async function openTrustPlace(
  { clock, random }: Pick<TrustDeps, 'clock' | 'random'>,
  layout: WorkspaceLayout,
  key: Uint8Array,
): Promise<TrustPlace> {
  const seal = createTextSeal({ random }, key, 'trust');
  const open = (of: WorkspaceLayout): TrustStore => createFileTrustStore(of, { clock, random, seal });
  return {
    key,
    store: open(layout),
    storeOf: (workspace) => open(workspaceLayout(workspace, layout.home)),
    main: await findMainCheckout(layout.workspace),
    branch: () => readBranch(layout.workspace),
  };
}

/** Whether nobody is asked about this workspace. */
export async function trustsAll(
  { env }: Pick<TrustDeps, 'env'>,
  { workspace, mode }: Pick<TrustOptions, 'workspace' | 'mode'>,
): Promise<boolean> {
  if (mode === 'all') return true;
  // Somebody reviewed exactly that, so nothing else counts.
  if (pinnedDigest(env) !== undefined) return false;
  const { trustPaths } = await readUserSettings(env);
  return isBelow(workspace, trustPaths);
}

/** `QM_TRUST` pins what CI may run. */
export function pinnedDigest({ QM_TRUST: text }: TrustDeps['env']): string | undefined {
  if (text === undefined || text === '') return undefined;
  if (digestPattern.test(text)) return text;
  throw new HubError('USAGE', 'QM_TRUST is not a digest.', {
    hint: '`qm trust --show` prints the digest of what is on disk: sha256: and 64 digits.',
  });
}
