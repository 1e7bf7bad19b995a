import type { LedgerPlaces } from './places.ts';

/** A ledger with its journal in the folder `state` of the workspace. */
export function placesIn(workspace: string): LedgerPlaces {
  return { workspace, journal: { root: workspace, names: ['state', 'journal'] } };
}
