import type { LoadedConfiguration } from '../config/index.ts';
import type { Judgement, TrustItem } from '../trust/index.ts';

/** Decides what of a loaded configuration takes effect. */
export interface ConfigurationTrust {
  /** Whether servers wait for approval. Otherwise everything is trusted once the files are quiet. */
  readonly asks: boolean;
  itemsOf(loaded: LoadedConfiguration): Promise<readonly TrustItem[]>;
  judge(loaded: LoadedConfiguration): Promise<Judgement>;
  /** The files as they were when the rules were approved last. Undefined: never, or they cannot be read any more. */
  approvedBefore(): Promise<{ readonly loaded: LoadedConfiguration; readonly at: number } | undefined>;
  /** Approvals of these servers up to this time, in milliseconds since 1970, do not count in this process. Undefined: all. */
  withhold(servers: readonly string[] | undefined, at: number): void;
  /** The files have been quiet, or the operator said that they are as meant. */
  settle(loaded: LoadedConfiguration): void;
}
