export { createFileTrustStore, type TrustFileDeps } from '../trust/trust-file.ts';
export { ensureAdminToken, putAdminToken, readAdminToken } from './admin-token.ts';
export {
  type CatalogStore,
  type CatalogStoreOptions,
  createCatalogStore,
} from './catalog-store.ts';
export { earlierJournal, findEarlierState, moveEarlierState, withEarlierLock } from './earlier-state.ts';
export { layoutIn, ledgerPlaces, type WorkspaceLayout, workspaceLayout } from './layout.ts';
export { acquireLock } from './lock.ts';
export type { Lock, LockOptions } from './lock-in-place.ts';
export { protectedPlaces } from './protected-places.ts';
export { openRunLabelFile } from './run-label-file.ts';
export { createFileSecretStore, findKeyPlace, forgetKeychainKey, type SecretStoreOptions } from './secret-store.ts';
export { isAuthentic, packState, readArchive, type StateArchive, unpackState } from './state-archive.ts';
export { ensureStateFolder, openStateFolder, type StateFolderOptions } from './state-folder.ts';
export { stateHome, stateHomeFor } from './state-home.ts';
export { ensureHomeKey, ensureStateKey, ensureTrustKey, putStateKey, readHomeKey, readTrustKey } from './state-key.ts';
export { adoptState, findMovedState, listOrphans, removeState, type StoredState } from './state-origin.ts';
export { putStateScript } from './state-script.ts';
export { adoptEarlierTokens, countTokens, createFileTokenStore, listEarlierTokens } from './token-file.ts';
