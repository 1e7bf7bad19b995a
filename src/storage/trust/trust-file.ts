import { type Clock, type RandomBytes, systemRandom } from '../../base/index.ts';
import type { NewSnapshot, Snapshot, TrustRecord, TrustStore } from '../../trust/index.ts';
import type { TextSeal } from '../../vault/index.ts';
import { fileError } from '../files/file-error.ts';
import { readJsonDocument } from '../files/json-document.ts';
import type { WorkspaceLayout } from '../files/layout.ts';
import { withLock } from '../files/lock.ts';
import { workspaceIdentity } from '../files/state-origin.ts';
import { replaceFile } from '../files/write-file.ts';
import { documentOf, recordOf, textPairs, textsDocument, trustDocument } from './trust-document.ts';

export interface TrustFileDeps {
  readonly clock?: Clock;
  readonly random?: RandomBytes;
  /** Snapshots contain environment files. */
  readonly seal: TextSeal;
}

/** The approvals of a file workspace, in one file; the texts that were approved last, sealed, in another. */
export function createFileTrustStore(layout: WorkspaceLayout, deps: TrustFileDeps): TrustStore {
  const { random = systemRandom, seal } = deps;
  const { trust, trustTexts } = layout;

  async function replace(path: string, document: object): Promise<void> {
    try {
      await replaceFile(layout, path, `${JSON.stringify(document, undefined, 2)}\n`, random);
    } catch (error) {
      throw fileError(error, 'write', path);
    }
  }

  async function load(): Promise<TrustRecord> {
    return recordOf(await readJsonDocument(layout, trust, trustDocument), workspaceIdentity(layout));
  }

  /** First what the new record refers to, then the record, then what nothing refers to any more. */
  async function save(record: TrustRecord, added: readonly NewSnapshot[]): Promise<void> {
    const before = (await readJsonDocument(layout, trustTexts, textsDocument))?.snapshots ?? {};
    const used = usedSnapshots(record);
    const wanted = added.filter(({ id }) => used.includes(id));
    const all = { ...before, ...Object.fromEntries(wanted.map((each) => [each.id, sealed(each)])) };
    const kept = withinBytes(all, used);
    if (wanted.length > 0) await replace(trustTexts, { version: 1, snapshots: all });
    await replace(trust, { ...documentOf(record), folder: workspaceIdentity(layout) });
    if (Object.keys(kept).length < Object.keys(all).length) {
      await replace(trustTexts, { version: 1, snapshots: kept });
    }
  }

  function sealed({ id, texts }: NewSnapshot): string {
    return seal.seal(`${layout.workspace}\0${id}`, JSON.stringify([...texts]));
  }

  return {
    place: trust,
    load,
    update: (change, snapshots = []) =>
      withLock(
        layout,
        'trust',
        async () => {
          const record = change(await load());
          await save(record, snapshots);
          return record;
        },
        deps,
      ),
    async snapshot(id): Promise<Snapshot | undefined> {
      const document = await readJsonDocument(layout, trustTexts, textsDocument);
      const text = document?.snapshots[id];
      const opened = text === undefined ? undefined : seal.open(`${layout.workspace}\0${id}`, text);
      return opened === undefined ? undefined : new Map(textPairs.parse(JSON.parse(opened)));
    },
  };
}

/** The newest approvals first. */
function usedSnapshots({ approvals }: TrustRecord): readonly string[] {
  const newest = [...approvals].sort((one, other) => other.at - one.at);
  return [...new Set(newest.flatMap(({ pin }) => (pin === undefined ? [] : [pin.snapshot])))];
}

/** Half of what may be read. A version without its texts still counts, but cannot stay in force while a change waits. */
const mostBytes = 128 * 1024 * 1024;

function withinBytes(snapshots: Readonly<Record<string, string>>, used: readonly string[]): Record<string, string> {
  const kept: Record<string, string> = {};
  let bytes = 0;
  for (const id of used) {
    const text = snapshots[id];
    if (text === undefined) continue;
    bytes += text.length;
    if (bytes > mostBytes) break;
    kept[id] = text;
  }
  return kept;
}
