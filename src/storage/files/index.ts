export { type AdminToken, ensureAdminToken, readAdminToken } from './admin-token.ts';
export {
  type CatalogStore,
  type CatalogStoreOptions,
  createCatalogStore,
} from './catalog-store.ts';
export { type WorkspaceLayout, workspaceLayout } from './layout.ts';
export { acquireLock, type HeldLock, type LockOptions, withLock } from './lock.ts';
export { identifyThisProcess, isRunning, type ProcessIdentity } from './process-identity.ts';
export { readServeFile, removeServeFile, type ServeFile, writeServeFile } from './serve-file.ts';
export { ensureStateFolder } from './state-folder.ts';
export { createFileTokenStore } from './token-store.ts';
