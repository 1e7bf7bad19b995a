export { configFileNames, loadFleet } from './load-fleet.ts';
export { fleetSchema } from './schema.ts';
export { type ConfigWatch, type WatchConfigOptions, watchConfig } from './watch-config.ts';
