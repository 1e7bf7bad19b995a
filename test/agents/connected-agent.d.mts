import type { Turn } from './models/scripted-model.mjs';
import type { Ended } from './run-client.mjs';

export interface ConnectedVerdict {
  /** Which of the two tools were offered at the first turn. */
  readonly first: readonly string[];
  readonly seconds: number;
  readonly problems: readonly string[];
}

export interface ConnectedClient {
  readonly name: string;
  readonly title: string;
}

export function runConnected(client: ConnectedClient): Promise<ConnectedVerdict>;

export interface ConnectedRuns {
  readonly alone: Ended & { readonly turns: readonly Turn[] };
  readonly connected: Ended & { readonly turns: readonly Turn[] };
  readonly doctor: string;
  readonly before: readonly (string | undefined)[];
  readonly after: readonly (string | undefined)[];
}

export function judgeConnected(
  tools: { readonly hub: string; readonly direct: string },
  runs: ConnectedRuns,
): ConnectedVerdict;
