export { loadFleet } from './load-fleet.ts';
export { type ConfigWatch, type WatchConfigOptions, watchConfig } from './watch-config.ts';
