import type { CallMeter } from '../calls/index.ts';

/** Whoever wants numbers from a hub hands one in; without it nothing is counted. */
export interface HubMeter extends CallMeter {
  /** A connection to the server was opened. */
  linked(server: string): void;
}
