import {
  type Approval,
  countApprovals,
  hashesOf,
  type ItemRef,
  type TrustRecord,
  type TrustStore,
} from '../trust/index.ts';
import type { ApprovedLoads, ApprovedTexts } from './approved-texts.ts';

/** Where approvals are, and the key that identifies items in them. */
export interface TrustPlace {
  readonly key: Uint8Array;
  readonly store: TrustStore;
  /** The approvals of another workspace. */
  storeOf(workspace: string): TrustStore;
  /** The main checkout, if git says that this is a worktree of it. */
  readonly main: string | undefined;
  /** The branch of git that the workspace is on. */
  branch(): Promise<string>;
}

/** The approvals as they are stored. */
export interface StoredRecords {
  readonly own: TrustRecord;
  /** The main checkout of a worktree, and its approvals. */
  readonly mainPath: string | undefined;
  readonly main: TrustRecord | undefined;
  readonly mainStore: TrustStore | undefined;
  readonly branch: string;
}

/**
 * The main checkout that was remembered counts, because an agent may write the file in which git names it. A remembered one
 * without any approvals has nothing to say: it was moved, with its state.
 */
export async function readRecords(place: TrustPlace): Promise<StoredRecords> {
  const [own, branch] = await Promise.all([place.store.load(), place.branch()]);
  const candidates = [own.main, place.main].filter((path) => path !== undefined);
  for (const mainPath of candidates) {
    const mainStore = place.storeOf(mainPath);
    const main = await mainStore.load();
    if (main.approvals.length > 0) return { own, branch, mainPath, main, mainStore };
  }
  return { own, branch, mainPath: candidates[0], main: undefined, mainStore: undefined };
}

/** The stored approvals that count. */
export interface Records extends StoredRecords {
  readonly place: TrustPlace;
  readonly loads: ApprovedLoads;
  readonly declined: ReadonlySet<string>;
  /** Whether anything was ever approved. */
  readonly hasApprovals: boolean;
  /** The newest first. */
  counting(item: ItemRef): readonly Approval[];
}

/** Where a digest is pinned, no stored approval counts. */
export function recordsOf(
  stored: StoredRecords,
  { place, loads, hasDigest }: Pick<Records, 'place' | 'loads'> & { readonly hasDigest: boolean },
): Records {
  const { own, main, branch } = stored;
  const approvals = hasDigest ? [] : [...(main?.approvals ?? []), ...own.approvals];
  const declined = hashesOf(own.declined);
  const hasApprovals = approvals.some(({ hash }) => hash !== undefined);
  return {
    ...stored,
    place,
    loads,
    declined,
    hasApprovals,
    counting: countApprovals({ approvals, branch, declined }),
  };
}

/** The newest of these versions whose texts are still there. */
export async function pinnedTexts(
  approvals: readonly Approval[],
  { place, mainStore, loads }: Records,
): Promise<ApprovedTexts | undefined> {
  for (const { pin } of approvals) {
    if (pin === undefined) continue;
    const texts =
      (await loads.pinned(place.store, pin)) ??
      (mainStore === undefined ? undefined : await loads.pinned(mainStore, pin));
    if (texts !== undefined) return texts;
  }
  return undefined;
}
