import type { KeyPlaceKind, SealedDocument } from './sealing.ts';

/** Keeps a sealed document, and its keys in one of two places. The document says in which. */
export interface SecretStore {
  /** The place of the document, for messages. */
  readonly place: string;
  load(): Promise<SealedDocument | undefined>;
  /** Replaces the document. Resolves when it is on disk. */
  save(document: SealedDocument): Promise<void>;
  readonly keys: Readonly<Record<KeyPlaceKind, KeyPlace>>;
  /** Runs `work` while no other process changes the store. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
}

export interface KeyPlace {
  readonly kind: KeyPlaceKind;
  /** For messages. */
  readonly where: string;
  /** Why there is no such place here, as half a sentence. Undefined if there may be one. */
  missing?(): string | undefined;
  /** By key id, the newest last. Empty if it has none for that store. */
  load(store: string): Promise<ReadonlyMap<string, Uint8Array>>;
  /** Resolves when the keys are kept. With none, removes what it has for that store. */
  save(store: string, keys: ReadonlyMap<string, Uint8Array>): Promise<void>;
}
