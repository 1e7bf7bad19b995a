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
  async function save(record: TrustRecord, added: NewSnapshot | undefined): Promise<void> {
    const before = (await readJsonDocument(layout, trustTexts, textsDocument))?.snapshots ?? {};
    const all = added === undefined ? before : { ...before, [added.id]: sealed(added) };
    const used = new Set(
      [...record.servers.values(), ...(record.policy === undefined ? [] : [record.policy])].map(
        ({ snapshot }) => snapshot,
      ),
    );
    const kept = Object.fromEntries(Object.entries(all).filter(([id]) => used.has(id)));
    if (added !== undefined) await replace(trustTexts, { version: 1, snapshots: all });
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
    update: (change, snapshot) =>
      withLock(
        layout,
        'trust',
        async () => {
          const record = change(await load());
          await save(record, snapshot);
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
