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
  /** Undefined: no policy was ever approved, so that there is nothing that a policy could widen. */
  readonly policy: ApprovedPolicy | undefined;
}

export interface ApprovedServer {
  readonly item: ServerItem;
  readonly files: readonly PlanFile[];
}

export interface ApprovedPolicy {
  /** Undefined: it cannot be read any more. */
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
}

/** The configuration that takes effect, and what waits. */
export interface Judgement {
  readonly configuration: Configuration;
  readonly pending: readonly PendingItem[];
  /** The items on disk that are approved. */
  readonly approved: readonly TrustItem[];
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
  let policy: Partial<Configuration> = {};
  for (const item of items) {
    const isApproved = versions.isApproved(item);
    if (item.kind === 'server') {
      const before = isApproved ? undefined : versions.server(item.name);
      servers.set(item.name, judgeServer(item, before, { ...options, isApproved, workspace: configuration.workspace }));
      // A new server waits only where servers need approval.
      const waits = !isApproved && item.spec.enabled && (before !== undefined || !options.trustsPlans);
      if (waits) pending.push(waiting(item, before?.item, { isKnown: before !== undefined, versions }));
    } else if (!isApproved && versions.policy !== undefined) {
      const { rules, settings, item: before } = versions.policy;
      policy = { ...narrowSettings(settings, configuration), approvedRules: onlyRules(rules) };
      pending.push(waiting(item, before, { isKnown: true, versions }));
    } else if (!isApproved && !options.trustsPlans) {
      // Of all settings, only these folders give more than the hub would give without them.
      policy = { allowPaths: [] };
    }
  }
  const approved = items.filter((item) => versions.isApproved(item));
  return { configuration: { ...configuration, servers, ...policy }, pending, approved };
}

interface ServerContext extends ApplyTrustOptions {
  readonly isApproved: boolean;
  readonly workspace: string;
}

function judgeServer(item: ServerItem, before: ApprovedServer | undefined, context: ServerContext): ConfiguredServer {
  const { isApproved, trustsPlans, workspace } = context;
  const { spec, plan } = item;
  const ready = (own: ServerSpec, files: readonly PlanFile[]): ConfiguredServer => ({
    kind: 'ready',
    spec: trustsPlans ? own : withFiles(own, { workspace, files }),
  });
  if (isApproved || !spec.enabled) return ready(spec, plan.files);
  if (before === undefined) return trustsPlans ? ready(spec, []) : untrusted(spec, context.versions.isDeclined(item));
  if (trustsPlans) return ready(narrowServer(spec, before.item.spec), []);
  return ready(narrowServer({ ...before.item.spec, ...placeOf(spec) }, spec), before.files);
}

function withFiles(spec: ServerSpec, approvedFiles: ApprovedFiles): ServerSpec {
  const bound = (transport: TransportSpec): TransportSpec =>
    transport.type === 'stdio' ? { ...transport, approvedFiles } : transport;
  return { ...spec, transport: bound(spec.transport), fallbacks: spec.fallbacks.map(bound) };
}

/** A configuration has rules and much else, which must not override what is on disk. */
function onlyRules({ agents, roles, policy }: AccessRules): AccessRules {
  return { agents, roles, policy };
}

/** The entry on disk is the one that the operator looks for. */
function placeOf({ source, hides }: ServerSpec): { source: SourceRef; hides: readonly SourceRef[] } {
  return { source, hides };
}

function untrusted(spec: ServerSpec, declined: boolean): ConfiguredServer {
  const { name, source, hides, description, transport, shared } = spec;
  return { kind: 'untrusted', name, source, hides, description, transport: transport.type, shared, declined };
}

function waiting(
  item: TrustItem,
  before: TrustItem | undefined,
  { isKnown, versions }: { readonly isKnown: boolean; readonly versions: ApprovedVersions },
): PendingItem {
  return { item, before, change: isKnown ? 'changed' : 'new', declined: versions.isDeclined(item) };
}
