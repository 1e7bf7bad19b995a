export { ensureAdminToken, putAdminToken, readAdminToken } from './admin-token.ts';
export {
  type CatalogStore,
  type CatalogStoreOptions,
  createCatalogStore,
} from './catalog-store.ts';
export { type WorkspaceLayout, workspaceLayout } from './layout.ts';
export { acquireLock, type HeldLock, type LockOptions } from './lock.ts';
export { createNameStore, type NameStore, type NameStoreOptions } from './name-store.ts';
export { readServeFile, removeServeFile, type ServeFile, writeServeFile } from './serve-file.ts';
export { ensureStateFolder, openStateFolder, type StateFolderOptions } from './state-folder.ts';
export { ensureStateKey, putStateKey } from './state-key.ts';
export { createFileTokenStore } from './token-store.ts';
export { type ClaimOptions, claimWorkspace } from './workspace-claim.ts';
