import type { PolicyRule, SourceRef } from './configuration.ts';

/** What MAGSAG's permissions files say about tools, for every agent. They only restrict what other rules allow. */
export interface Permissions {
  /** The environment that `quartermaster.yaml` names. Undefined: none. */
  readonly written: string | undefined;
  /** The environment in force: the written one, else that of the hub's own environment. */
  readonly environment: string | undefined;
  /** One for each environment of each file. */
  readonly rules: readonly PermissionRules[];
}

/** The rules of one file in one environment. */
export interface PermissionRules {
  readonly source: SourceRef;
  /** Undefined: the file has no environments. */
  readonly environment: string | undefined;
  /** Of these, the first that applies to a call decides. */
  readonly ordered: readonly PolicyRule[];
  /** If none of them applies: by server, else for all. */
  readonly servers: ReadonlyMap<string, PolicyRule>;
  readonly fallback: PolicyRule;
  /** Restrict in addition, whatever the others allow. */
  readonly restrictions: readonly PolicyRule[];
  readonly rates: readonly SharedRate[];
}

/** How many calls all agents together may make. */
export interface SharedRate {
  /** Undefined: to all servers together. */
  readonly server: string | undefined;
  readonly callsPerMinute: number | undefined;
  readonly callsPerHour: number | undefined;
}

/** The rules in force. If the environment of a file is not known, all its environments count, and the strictest decides. */
export function permissionsInForce({ environment, rules }: Permissions): readonly PermissionRules[] {
  return rules.filter((each) => {
    const known = rules.some(
      ({ source, environment: name }) => source.file === each.source.file && name === environment,
    );
    return !known || each.environment === environment;
  });
}
