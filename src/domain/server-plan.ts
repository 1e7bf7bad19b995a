import type { ProgramFile } from '../base/index.ts';
import type { TransportKind } from './configuration.ts';

/** What a server would start or contact, before its variables are expanded. An operator approves this. */
export interface ServerPlan {
  readonly transports: readonly TransportPlan[];
  /** Values that files of the workspace supply for variables, by variable. Secret: only hashes of them are kept. */
  readonly values: ReadonlyMap<string, string>;
  /** Files of the workspace that the command or its arguments name, and the links on the way to them. */
  readonly files: readonly PlanFile[];
  /** Places with keys that the server may reach because `allowPaths` says so. */
  readonly reaches: readonly string[];
}

export interface TransportPlan {
  readonly type: TransportKind;
  /** `[field, text]` as written, with variables as `${NAME}`: `['args.0', '-y']`. */
  readonly texts: readonly (readonly [string, string])[];
  /** The variables in the texts. They cannot be read from the texts, where a literal may look like a variable. */
  readonly variables: readonly string[];
  /** Its working folder is in the workspace, and files there decide what it runs. */
  readonly runsFolderCode: boolean;
}

/** Paths are relative to the workspace. */
export type PlanFile = ProgramFile;

/** The files that were approved with a server. It starts only while its programs name exactly these. */
export interface ApprovedFiles {
  readonly workspace: string;
  readonly files: readonly PlanFile[];
}
