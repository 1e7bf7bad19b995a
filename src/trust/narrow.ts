import { isDeepStrictEqual } from 'node:util';
import {
  type ApprovalSettings,
  type CacheSettings,
  type Configuration,
  type ContentLabels,
  type Isolation,
  narrowLock,
  type ResultSettings,
  type Retention,
  type ServerLimits,
  type ServerSpec,
  type ServeSettings,
} from '../domain/index.ts';

/** The base, with only the rights that the other version gives too. */
export function narrowServer(base: ServerSpec, other: ServerSpec): ServerSpec {
  const { source, tools, access, restrictedBy } = other;
  const disabledBy = base.disabledBy ?? other.disabledBy;
  const paths = base.paths ?? other.paths;
  const labels = bothLabels(base.labels, other.labels);
  const lock = narrowLock(base.lock, other.lock);
  const results = bothResults(base.results, other.results);
  return {
    ...base,
    enabled: base.enabled && other.enabled,
    shared: base.shared && other.shared,
    limits: narrowLimits(base.limits, other.limits),
    access: { ...base.access, trustAnnotations: base.access.trustAnnotations && access.trustAnnotations },
    restrictedBy: [...base.restrictedBy, { source, tools, access, rules: undefined }, ...restrictedBy],
    isolation: moreIsolated(base.isolation, other.isolation),
    roots: base.roots === other.roots ? base.roots : 'none',
    cache: narrowCache(base.cache, other.cache),
    ...(disabledBy === undefined ? {} : { disabledBy }),
    ...(paths === undefined ? {} : { paths }),
    ...(labels === undefined ? {} : { labels }),
    ...(lock === undefined ? {} : { lock }),
    ...(results === undefined ? {} : { results }),
  };
}

/** A label only restricts, so the labels of both versions count. */
function bothLabels(one: ContentLabels | undefined, other: ContentLabels | undefined): ContentLabels | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const tools = new Map(one.tools);
  for (const [tool, labels] of other.tools) tools.set(tool, union(tools.get(tool) ?? [], labels));
  return { all: union(one.all, other.all), tools };
}

/** Nothing that one version hides or marks may appear without. */
function bothResults(one: ResultSettings | undefined, other: ResultSettings | undefined): ResultSettings | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const more = other.redact.filter((rule) => !one.redact.some((each) => isDeepStrictEqual(each, rule)));
  return { redact: [...one.redact, ...more], delimit: one.delimit || other.delimit };
}

function union(one: readonly string[], other: readonly string[]): readonly string[] {
  return [...new Set([...one, ...other])];
}

/** Settings of the hub while a change of them waits. */
export type HubSettings = Pick<Configuration, 'naming' | 'ledger' | 'serve' | 'approvals' | 'allowPaths'>;

export function narrowSettings(approved: HubSettings, other: HubSettings): HubSettings {
  return {
    // No right depends on it, and every client would see other names.
    naming: approved.naming,
    ledger: {
      sync: approved.ledger.sync === 'always' ? 'always' : other.ledger.sync,
      keep: longerOf(approved.ledger.keep, other.ledger.keep),
      runs: longerOf(approved.ledger.runs, other.ledger.runs),
    },
    serve: narrowServe(approved.serve, other.serve),
    approvals: narrowApprovals(approved.approvals, other.approvals),
    allowPaths: approved.allowPaths.filter((path) => other.allowPaths.includes(path)),
  };
}

function narrowApprovals(one: ApprovalSettings, other: ApprovalSettings): ApprovalSettings {
  return {
    // No right depends on it.
    waitMs: one.waitMs,
    expiresMs: Math.min(one.expiresMs, other.expiresMs),
    fourEyes: one.fourEyes || other.fourEyes,
    require: one.require === 'page' ? 'page' : other.require,
  };
}

function narrowServe(one: ServeSettings, other: ServeSettings): ServeSettings {
  return {
    // One-time links go there.
    ...(one.publicUrl === undefined ? {} : { publicUrl: one.publicUrl }),
    allowedHosts: one.allowedHosts.filter((host) => other.allowedHosts.includes(host)),
    allowedOrigins: one.allowedOrigins.filter((origin) => other.allowedOrigins.includes(origin)),
    maxBodyBytes: Math.min(one.maxBodyBytes, other.maxBodyBytes),
    clientSessionIdleMs: Math.min(one.clientSessionIdleMs, other.clientSessionIdleMs),
    maxClientSessions: Math.min(one.maxClientSessions, other.maxClientSessions),
  };
}

function narrowLimits(one: ServerLimits, other: ServerLimits): ServerLimits {
  const sizes = [one.maxResultBytes, other.maxResultBytes].filter((size) => size !== undefined);
  const rates = [one.ratePerMin, other.ratePerMin].filter((rate) => rate !== undefined);
  return {
    timeoutMs: Math.min(one.timeoutMs, other.timeoutMs),
    maxMs: Math.min(one.maxMs, other.maxMs),
    concurrency: Math.min(one.concurrency, other.concurrency),
    ratePerMin: rates.length === 0 ? undefined : Math.min(...rates),
    graceMs: Math.min(one.graceMs, other.graceMs),
    ...(sizes.length === 0 ? {} : { maxResultBytes: Math.min(...sizes) }),
  };
}

const isolations: readonly Isolation[] = ['shared', 'per-agent', 'per-session'];

function moreIsolated(one: Isolation, other: Isolation): Isolation {
  return isolations.indexOf(one) > isolations.indexOf(other) ? one : other;
}

function narrowCache(one: CacheSettings | undefined, other: CacheSettings | undefined): CacheSettings | undefined {
  if (one === undefined || other === undefined) return undefined;
  const listed = one.tools ?? other.tools;
  return {
    ttlMs: Math.min(one.ttlMs, other.ttlMs),
    maxBytes: Math.min(one.maxBytes, other.maxBytes),
    tools: listed?.filter((tool) => (one.tools ?? listed).includes(tool) && (other.tools ?? listed).includes(tool)),
    resources: one.resources && other.resources,
  };
}

/** A file that nobody approved must not shorten the audit log. */
function longerOf(a: Retention, b: Retention): Retention {
  return { days: Math.max(a.days, b.days), megabytes: Math.max(a.megabytes, b.megabytes) };
}
