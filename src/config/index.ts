export type { LoadDeps } from './assemble-configuration.ts';
export type { LoadedSource } from './files/loaded-sources.ts';
export type { SourceText } from './files/source-file.ts';
export { type ConfigWatch, type WatchConfigOptions, watchConfig } from './files/watch-config.ts';
export {
  isReadFile,
  type LoadedConfiguration,
  type LoadOptions,
  loadConfiguration,
  loadWithSources,
} from './load-configuration.ts';
export { formatLockfile } from './lock/format-lockfile.ts';
export { type LockedServer, type Lockfile, lockfileName } from './lock/lockfile.ts';
export { parseLockfile } from './lock/parse-lockfile.ts';
export { isAgentFile } from './readers/agent-files.ts';
export { type CoverOptions, checkReach } from './servers/covered-places.ts';
export { createRootsFilter } from './servers/filter-roots.ts';
export { fittingName } from './servers/server-draft.ts';
export { isBelow, readUserSettings, type UserSettings } from './user-settings.ts';
export type { FoundLiteral } from './variables/literal-secrets.ts';
export type { SecretValues } from './variables/variables.ts';
