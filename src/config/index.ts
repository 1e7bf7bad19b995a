export { didYouMean } from './did-you-mean.ts';
export { type LoadedConfiguration, loadConfiguration, loadFleet } from './load-fleet.ts';
export type { LoadedSource } from './loaded-sources.ts';
export { isAgentFile } from './readers/agent-files.ts';
export type { SourceText } from './source-file.ts';
export { type ConfigWatch, type WatchConfigOptions, watchConfig } from './watch-config.ts';
