export { createFileTrustStore, type TrustFileDeps } from '../trust/trust-file.ts';
export { ensureAdminToken, putAdminToken, readAdminToken } from './admin-token.ts';
export {
  type CatalogStore,
  type CatalogStoreOptions,
  createCatalogStore,
} from './catalog-store.ts';
export { earlierJournal, findEarlierState, moveEarlierState, withEarlierLock } from './earlier-state.ts';
export { layoutIn, ledgerPlaces, type WorkspaceLayout, workspaceLayout } from './layout.ts';
export { acquireLock, type Lock, type LockOptions } from './lock.ts';
export { protectedPlaces } from './protected-places.ts';
export { createFileSecretStore, findKeyPlace, forgetKeychainKey, type SecretStoreOptions } from './secret-store.ts';
export { packState, readArchive, type StateArchive, unpackState } from './state-archive.ts';
export { ensureStateFolder, openStateFolder, type StateFolderOptions } from './state-folder.ts';
export { stateHome } from './state-home.ts';
export { ensureStateKey, ensureTrustKey, putStateKey, readTrustKey } from './state-key.ts';
export { adoptState, findMovedState, listOrphans, removeState, type StoredState } from './state-origin.ts';
export { putStateScript } from './state-script.ts';
export { adoptEarlierTokens, countTokens, createFileTokenStore, listEarlierTokens } from './token-file.ts';
