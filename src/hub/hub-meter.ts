import type { CallMeter } from '../calls/index.ts';

/** Counts events for metrics. Without one, nothing is counted. */
export interface HubMeter extends CallMeter {
  /** A connection to the server was opened. */
  connected(server: string): void;
}
