/** What a key of another client's server restricts, in the words that clients and people use for it. */
export type RestrictionRole = 'include' | 'exclude' | 'on' | 'off' | 'read-only' | 'rate';

/** Undefined for all that is not such a word. */
export function restrictionRole(key: string): RestrictionRole | undefined {
  return roles.get(key.toLowerCase().replace(/[_-]/g, ''));
}

const roles: ReadonlyMap<string, RestrictionRole> = new Map([
  ...words('include', 'tools', 'allowedtools', 'allowtools', 'includetools', 'includedtools', 'enabledtools'),
  ...words('exclude', 'disabledtools', 'disallowedtools', 'excludetools', 'excludedtools', 'deniedtools'),
  ...words('exclude', 'denytools', 'blockedtools', 'disabletools'),
  ...words('on', 'enabled', 'enable', 'active', 'isactive', 'isenabled'),
  ...words('off', 'disabled', 'disable', 'isdisabled'),
  ...words('read-only', 'readonly'),
  ...words('rate', 'ratelimit', 'ratepermin'),
]);

function words(role: RestrictionRole, ...all: string[]): [string, RestrictionRole][] {
  return all.map((word) => [word, role]);
}

/**
 * Whether a key that nobody here knows may limit or restrict something. What only asks less in another client
 * (`autoApprove`, `alwaysAllow`, `trust`) does not, nor do the patience and the diagnosis of a connection.
 */
export function looksRestrictive(key: string): boolean {
  const parts = key
    .slice(0, 200)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  if (parts.some((part) => harmless.has(part)) || /^(?:auto|always)/.test(parts[0] ?? '')) return false;
  return parts.some((part) => restrictive.test(part) || restrictiveWords.has(part));
}

const restrictive =
  /^(?:allow|den(?:y|ied)|disallow|block|exclu|inclu|disabl|enabl|restrict|limit|ratelimit|throttl|quota|scope|permi(?:t|ss)|readonly|approv|confirm|forbid|whitelist|blacklist|safelist|filter|hidden|polic(?:y|ies)|sandbox|privileg)/;

const restrictiveWords: ReadonlySet<string> = new Set(['acl', 'hide', 'max', 'only', 'rate', 'role', 'roles']);

const harmless: ReadonlySet<string> = new Set([
  ...['attempt', 'attempts', 'backoff', 'delay', 'heartbeat', 'interval', 'ping', 'reconnect', 'reconnects'],
  ...['restart', 'restarts', 'retries', 'retry', 'start', 'startup', 'timeout', 'timeouts'],
  ...['debug', 'log', 'logging', 'logs', 'metrics', 'telemetry', 'trace', 'tracing', 'verbose'],
  ...['auth', 'oauth'],
]);
