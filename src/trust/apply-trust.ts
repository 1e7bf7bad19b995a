import type {
  AccessRules,
  ApprovedFiles,
  Configuration,
  ConfiguredServer,
  PlanFile,
  ServerSpec,
  SourceRef,
  TransportSpec,
} from '../domain/index.ts';
import { type HubSettings, narrowServer, narrowSettings } from './narrow.ts';
import type { PolicyItem, ServerItem, TrustItem } from './trust-item.ts';

/** What was approved before. */
export interface ApprovedVersions {
  isApproved(item: TrustItem): boolean;
  isDeclined(item: TrustItem): boolean;
  /** The version of a server that stays in force while another one waits. */
  server(name: string): ApprovedServer | undefined;
  /** The rules and settings that nothing on disk may widen. */
  readonly policy: ApprovedPolicy;
}

export interface ApprovedServer {
  readonly item: ServerItem;
  readonly files: readonly PlanFile[];
}

export interface ApprovedPolicy {
  /**
   * `none`: nothing was ever approved, and a repository's own rules only narrow. `lost`: something was, but no rules are
   * known, so everything is denied.
   */
  readonly state: 'approved' | 'none' | 'lost';
  /** Of `none`, the rules that say nothing. */
  readonly item: PolicyItem | undefined;
  readonly rules: AccessRules;
  readonly settings: HubSettings;
}

export interface ApplyTrustOptions {
  readonly versions: ApprovedVersions;
  /** Everything that servers start or contact is trusted. Only rights wait, until the files are quiet. */
  readonly trustsPlans: boolean;
}

/** An item on disk that nobody approved. */
export interface PendingItem {
  readonly item: TrustItem;
  /** `changed`: an approved version of it is in force meanwhile. */
  readonly change: 'new' | 'changed';
  /** The approved version. */
  readonly before: TrustItem | undefined;
  readonly declined: boolean;
  /** Rules wait, and agents may do nothing before they are approved. */
  readonly deniesAll?: true;
}

/** The configuration that takes effect, and what waits. */
export interface Judgement {
  readonly configuration: Configuration;
  readonly pending: readonly PendingItem[];
  /** The items on disk that are approved. */
  readonly approved: readonly TrustItem[];
  /** Servers that are approved on this branch and not configured any more. */
  readonly removed: readonly string[];
  /** Another folder than the approved one is at the path of the workspace. */
  readonly replaced?: true;
}

/**
 * Nothing that was not approved takes effect: a new server does not start, a changed one goes on as it was approved, and
 * of changed rights only what both versions allow is left.
 */
export function applyTrust(
  configuration: Configuration,
  items: readonly TrustItem[],
  options: ApplyTrustOptions,
): Judgement {
  const { versions } = options;
  const servers = new Map(configuration.servers);
  const pending: PendingItem[] = [];
  const policy = items.find((item) => item.kind === 'policy');
  const narrowed = policy === undefined || versions.isApproved(policy) ? {} : narrowPolicy(versions, configuration);
  const { allowPaths = configuration.allowPaths } = narrowed;
  const mayReachKeys = options.trustsPlans || allowPaths.length === configuration.allowPaths.length;
  const context = { ...options, workspace: configuration.workspace, mayReachKeys };
  for (const item of items) {
    if (versions.isApproved(item)) {
      if (item.kind === 'server') servers.set(item.name, approvedServer(item, context));
    } else if (item.kind === 'server') {
      const before = versions.server(item.name);
      servers.set(item.name, waitingServer(item, before, context));
      if (waits(item, before, options)) pending.push(waiting(item, before?.item, versions));
    } else if (saysMore(item, versions)) pending.push(waitingPolicy(item, versions));
  }
  const approved = items.filter((item) => versions.isApproved(item));
  return { configuration: { ...configuration, servers, ...narrowed }, pending, approved, removed: [] };
}

function narrowPolicy({ policy }: ApprovedVersions, configuration: Configuration): Partial<Configuration> {
  const { rules, settings } = policy;
  return { ...narrowSettings(settings, configuration), approvedRules: onlyRules(rules) };
}

/** Rules that say nothing need no approval of their own. */
function saysMore({ hash }: PolicyItem, { policy }: ApprovedVersions): boolean {
  return policy.state !== 'none' || policy.item?.hash !== hash;
}

interface ServerContext extends ApplyTrustOptions {
  readonly workspace: string;
  /** False: paths to keys were opened by rules that wait. A server that was approved together with them waits too. */
  readonly mayReachKeys: boolean;
}

function approvedServer(item: ServerItem, context: ServerContext): ConfiguredServer {
  const { spec, plan } = item;
  if (spec.enabled && plan.reaches.length > 0 && !context.mayReachKeys) return untrusted(item, context);
  return ready(spec, plan.files, context);
}

function waitingServer(item: ServerItem, before: ApprovedServer | undefined, context: ServerContext): ConfiguredServer {
  const { trustsPlans, mayReachKeys } = context;
  const { spec, plan } = item;
  if (!spec.enabled) return ready(spec, plan.files, context);
  if (before === undefined) return trustsPlans ? ready(spec, [], context) : untrusted(item, context);
  if (trustsPlans) return ready(narrowServer(spec, before.item.spec), [], context);
  if (before.item.plan.reaches.length > 0 && !mayReachKeys) return untrusted(item, context);
  return ready(narrowServer({ ...before.item.spec, ...placeOf(spec) }, spec), before.files, context);
}

function ready(spec: ServerSpec, files: readonly PlanFile[], context: ServerContext): ConfiguredServer {
  const { trustsPlans, workspace } = context;
  return { kind: 'ready', spec: trustsPlans ? spec : withFiles(spec, { workspace, files }) };
}

function withFiles(spec: ServerSpec, approvedFiles: ApprovedFiles): ServerSpec {
  const bound = (transport: TransportSpec): TransportSpec =>
    transport.type === 'stdio' ? { ...transport, approvedFiles } : transport;
  return { ...spec, transport: bound(spec.transport), fallbacks: spec.fallbacks.map(bound) };
}

/** A configuration has rules and much else, which must not override what is on disk. */
function onlyRules({ agents, roles, policy, shadow, permissions }: AccessRules): AccessRules {
  const more = { ...(shadow === undefined ? {} : { shadow }), ...(permissions === undefined ? {} : { permissions }) };
  return { agents, roles, policy, ...more };
}

/** The entry on disk is the one that the operator looks for. */
function placeOf({ source, hides }: ServerSpec): { source: SourceRef; hides: readonly SourceRef[] } {
  return { source, hides };
}

function untrusted(item: ServerItem, { versions }: ServerContext): ConfiguredServer {
  const { name, source, hides, description, transport, shared } = item.spec;
  const declined = versions.isDeclined(item);
  return { kind: 'untrusted', name, source, hides, description, transport: transport.type, shared, declined };
}

/** A new server waits only where servers need approval; a disabled one only if an approved version of it runs. */
function waits({ spec }: ServerItem, before: ApprovedServer | undefined, { trustsPlans }: ApplyTrustOptions): boolean {
  if (before === undefined) return spec.enabled && !trustsPlans;
  return spec.enabled || (before.item.spec.enabled && !trustsPlans);
}

function waiting(item: ServerItem, before: ServerItem | undefined, versions: ApprovedVersions): PendingItem {
  return { item, before, change: before === undefined ? 'new' : 'changed', declined: versions.isDeclined(item) };
}

function waitingPolicy(item: PolicyItem, versions: ApprovedVersions): PendingItem {
  const { item: before, state } = versions.policy;
  const change = state === 'none' ? 'new' : 'changed';
  return {
    item,
    before,
    change,
    declined: versions.isDeclined(item),
    ...(state === 'lost' ? { deniesAll: true } : {}),
  };
}
