export { didYouMean } from './did-you-mean.ts';
export { loadFleet } from './load-fleet.ts';
export { isAgentFile } from './readers/agent-files.ts';
export { type ConfigWatch, type WatchConfigOptions, watchConfig } from './watch-config.ts';
