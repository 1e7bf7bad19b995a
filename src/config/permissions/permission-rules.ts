import { isPattern, type PermissionRules, type PolicyRule, type SharedRate } from '../../domain/index.ts';
import { lineAt, type SourceMap } from '../files/source-tree.ts';
import { ruleEffects } from '../rules/rule-schema.ts';
import { compileArgsMatch } from './match-arguments.ts';
import { effectOfPermission, type PermissionDocument } from './permission-schema.ts';

export interface PermissionFile {
  readonly document: PermissionDocument;
  readonly root: SourceMap;
  readonly file: string;
}

/**
 * The rules of the file in one environment. A name comes first, then context rules, then patterns, then defaults. Where MAGSAG's
 * own order would let a weaker rule hide a restriction, both count.
 */
export function permissionRules({ document, root, file }: PermissionFile, environment?: string): PermissionRules {
  const { default_permission, server_defaults = {}, tools = {}, environments = {}, rate_limits = {} } = document;
  const own = environment === undefined ? {} : (environments[environment] ?? {});
  const inEnvironment = ['environments', environment ?? ''];
  const rule = (pattern: string, permission: string, path: readonly PropertyKey[]): PolicyRule => ({
    pattern,
    effect: effectOfPermission(permission),
    source: { file, line: lineAt(root, path) },
  });
  const named = Object.entries(tools).map(([pattern, written]) => {
    const { permission, approval_message: message } =
      typeof written === 'string' ? { permission: written } : { approval_message: undefined, ...written };
    return { ...rule(pattern, permission, ['tools', pattern]), ...(message === undefined ? {} : { message }) };
  });
  const overrides = Object.entries(own.overrides ?? {}).map(([pattern, permission]) =>
    rule(pattern, permission, [...inEnvironment, 'overrides', pattern]),
  );
  const context = contextRules({ document, root, file });
  const dangerous = (document.dangerous_patterns ?? []).map(({ pattern, permission }, index) =>
    rule(pattern, permission, ['dangerous_patterns', index]),
  );
  const ofEnvironment = own.default_permission;
  const environmentDefault =
    ofEnvironment === undefined ? undefined : rule('*', ofEnvironment, [...inEnvironment, 'default_permission']);
  const servers = Object.entries(server_defaults).map(([server, written]): [string, PolicyRule] => {
    const permission = typeof written === 'string' ? written : written.default;
    const ofServer = rule(`${server}.*`, permission, ['server_defaults', server]);
    return [server, environmentDefault === undefined ? ofServer : stricterOf(ofServer, environmentDefault)];
  });
  const wide = [...context, ...overrides.filter(isWide), ...named.filter(isWide), ...dangerous];
  return {
    source: { file, line: root.line },
    environment,
    ordered: [...exactRules([...named, ...overrides]), ...context, ...overrides.filter(isWide)],
    servers: new Map(servers),
    fallback: environmentDefault ?? rule('*', default_permission ?? 'REQUIRE_APPROVAL', ['default_permission']),
    restrictions: wide.filter(({ effect }) => effect !== 'allow'),
    rates: sharedRates(rate_limits),
  };
}

/** Whether a context rule can be compiled is checked before. One that cannot restricts every call. */
function contextRules({ document, root, file }: PermissionFile): readonly PolicyRule[] {
  return (document.context_rules ?? []).map(({ condition: written, permission }, index): PolicyRule => {
    const source = { file, line: lineAt(root, ['context_rules', index]) };
    const pattern = written.tool ?? written.tool_pattern ?? '*';
    const args = written.args_match ?? {};
    if (Object.keys(args).length === 0) return { pattern, effect: effectOfPermission(permission), source };
    const condition = compileArgsMatch(args);
    if (condition === undefined) return { pattern, effect: 'deny', source };
    return { pattern, effect: effectOfPermission(permission), source, condition };
  });
}

/** One for each name: the stricter one, if an environment overrides it. */
function exactRules(rules: readonly PolicyRule[]): readonly PolicyRule[] {
  const byName = new Map<string, PolicyRule>();
  for (const rule of rules) {
    if (isWide(rule)) continue;
    const known = byName.get(rule.pattern);
    byName.set(rule.pattern, known === undefined ? rule : stricterOf(known, rule));
  }
  return [...byName.values()];
}

function isWide({ pattern }: PolicyRule): boolean {
  return isPattern(pattern);
}

/** Of equals, the first. */
function stricterOf(one: PolicyRule, other: PolicyRule): PolicyRule {
  return ruleEffects.indexOf(other.effect) > ruleEffects.indexOf(one.effect) ? other : one;
}

function sharedRates({ global, servers = {} }: NonNullable<PermissionDocument['rate_limits']>): readonly SharedRate[] {
  const all = [...(global === undefined ? [] : [[undefined, global] as const]), ...Object.entries(servers)];
  return all.map(([server, { calls_per_minute, calls_per_hour }]) => ({
    server,
    callsPerMinute: calls_per_minute,
    callsPerHour: calls_per_hour,
  }));
}
