import { type AccessRules, type Configuration, permissionsInForce, type SharedRate } from '../../domain/index.ts';

/** The limits that all agents share, one for each server and one for all. While a change waits, those of both versions. */
export function compileSharedRates(configuration: Configuration): readonly SharedRate[] {
  const versions: readonly (AccessRules | undefined)[] = [configuration, configuration.approvedRules];
  const all = versions.flatMap((rules) =>
    rules?.permissions === undefined ? [] : permissionsInForce(rules.permissions).flatMap(({ rates }) => rates),
  );
  const byServer = new Map<string | undefined, SharedRate>();
  for (const rate of all) byServer.set(rate.server, smaller(byServer.get(rate.server), rate));
  return [...byServer.values()];
}

function smaller(one: SharedRate | undefined, other: SharedRate): SharedRate {
  if (one === undefined) return other;
  return {
    server: one.server,
    callsPerMinute: least(one.callsPerMinute, other.callsPerMinute),
    callsPerHour: least(one.callsPerHour, other.callsPerHour),
  };
}

function least(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}
