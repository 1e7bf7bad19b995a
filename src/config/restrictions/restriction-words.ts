/** The kind of restriction that a key in another client's file expresses. */
export type RestrictionRole = 'include' | 'exclude' | 'on' | 'off' | 'read-only' | 'rate';

/** Undefined for any other key. */
export function restrictionRole(key: string): RestrictionRole | undefined {
  return roles.get(compact(key));
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
 * Whether an unknown key may restrict something. Keys that only skip confirmations in another client (`autoApprove`,
 * `alwaysAllow`, `trust`) do not, nor do timeouts, retries and diagnostics, unless they hold a word that only forbids.
 */
export function looksRestrictive(key: string): boolean {
  const parts = key
    .slice(0, 200)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  if (parts.some((part, at) => forbidding.test(part) || isDenial(part, parts[at + 1]))) return true;
  if (confirmations.has(compact(key)) || parts.some((part) => harmless.has(part))) return false;
  return parts.some((part) => restrictive.test(part) || restrictiveWords.has(part)) || isRate(parts);
}

/** `noWrite`, `no_delete`; but not `noProxy` and the like, which are about the program. */
function isDenial(part: string, next: string | undefined): boolean {
  return (part === 'no' || part === 'without') && next !== undefined && !ofProgram.has(next);
}

/** `callsPerMinute`, `requests_per_second`, `perDay`, `callspermin`. */
function isRate(parts: readonly string[]): boolean {
  return parts.some((part, at) => (part === 'per' && parts[at + 1] !== undefined) || countedPer.test(part));
}

const countedPer = /^(?:calls?|requests?|queries|invocations|tokens|messages|tools?)per[a-z]/;

/** Patience and diagnostics. */
const harmlessWords: readonly string[] = [
  ...['attempt', 'attempts', 'backoff', 'delay', 'heartbeat', 'interval', 'ping', 'reconnect', 'reconnects'],
  ...['restart', 'restarts', 'retries', 'retry', 'start', 'startup', 'timeout', 'timeouts'],
  ...['debug', 'log', 'logging', 'logs', 'metrics', 'telemetry', 'trace', 'tracing', 'verbose'],
  ...['auth', 'oauth'],
];
const harmless: ReadonlySet<string> = new Set(harmlessWords);

/** Words that only forbid, whatever stands beside them. */
const forbidding =
  /^(?:ban(?:$|s|ned|list|tools)|block|den(?:y|ies|ied)|disallow|exclu|forbid|inhibit|mut(?:e|ed|es|ing)(?:$|tools)|never|prevent|prohibit|reject|restrict|refus|revok|suspend|quarantin|unauthori[sz]|veto|withh[eo]ld)/;

/** What follows `no` in switches of a program, of its output or its network. */
const ofProgram: ReadonlySet<string> = new Set([
  ...['ansi', 'banner', 'browser', 'buffer', 'cache', 'check', 'color', 'colors', 'colour', 'compression', 'daemon'],
  ...['deps', 'emoji', 'input', 'install', 'open', 'pager', 'progress', 'proxy', 'restart', 'ssl', 'tls'],
  ...['verify', 'warning', 'warnings', 'window', ...harmlessWords],
]);

/** These set when another client asks its user, which it goes on doing by itself. */
const confirmations: ReadonlySet<string> = new Set([
  ...['alwaysallow', 'alwaysallowed', 'alwaysallowtools', 'alwaysapprove', 'autoallow', 'autoapprove', 'autoapproved'],
  ...['autoapprovetools', 'autoapproval', 'autoconfirm', 'autostart', 'autorestart', 'autoupdate', 'autoreconnect'],
  ...['autodetect', 'autoenable', 'enableallprojectmcpservers', 'mcp.toolapproval'],
]);

/** The same for a key of one server. There, more words can only be meant as a restriction. */
export function looksRestrictiveOnServer(key: string): boolean {
  return looksRestrictive(key) || serverWords.has(compact(key));
}

function compact(key: string): string {
  return key.slice(0, 200).toLowerCase().replace(/[_-]/g, '');
}

const serverWords: ReadonlySet<string> = new Set([
  ...['archived', 'audience', 'destructive', 'expose', 'exposed', 'exposedtools', 'locked', 'maskedtools', 'paused'],
  ...['publish', 'toolnames', 'unavailable', 'writable', 'write', 'writes'],
  ...['access', 'accesslevel', 'agents', 'availableto', 'budget', 'except', 'groups', 'ignoredtools', 'ignoretools'],
  ...['isolated', 'isolation', 'off', 'omit', 'omittools', 'private', 'removetools', 'rules', 'selectedtools'],
  ...['skiptools', 'suppresstools', 'teams', 'toolset', 'toolsets', 'users', 'visibility', 'visible', 'visibleto'],
  ...['nodelete', 'nonetwork', 'notools', 'nowrite', 'nowrites', 'viewonly', 'withouttools', 'writeprotected'],
]);

const restrictive =
  /^(?:allow|den(?:y|ied)|disallow|block|exclu|inclu|disabl|enabl|restrict|limit|ratelimit|throttl|quota|scope|permi(?:t|ss)|readonly|approv|confirm|forbid|whitelist|blacklist|safelist|filter|hidden|polic(?:y|ies)|sandbox|privileg)/;

const restrictiveWords: ReadonlySet<string> = new Set([
  ...['acl', 'ask', 'budget', 'budgets', 'cap', 'capped', 'caps', 'gated', 'guardrail', 'guardrails', 'hide', 'max'],
  ...['maximum', 'only', 'qpm', 'qps', 'rate', 'role', 'roles', 'rpm', 'rps', 'tpm'],
]);
