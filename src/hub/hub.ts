import type { Clock, Logger, RandomBytes } from '../base/index.ts';
import type {
  AgentLists,
  Call,
  CallRequest,
  CallResult,
  CallTracer,
  ListCaller,
  ResourceSubscription,
  View,
} from '../calls/index.ts';
import type {
  AnswerBudget,
  CallArguments,
  Caller,
  Catalog,
  Configuration,
  Decision,
  Problem,
  ServerLoad,
  ServerStatus,
} from '../domain/index.ts';
import type { DefinitionFinding } from '../governance/index.ts';
import type { Ledger } from '../ledger/index.ts';
import type { RequestStates } from '../mcp/index.ts';
import type { PendingItem } from '../trust/index.ts';
import type { Builtins } from '../upstream/index.ts';
import type { TrustMode } from '../workspace-trust/index.ts';
import type { HubApprovals } from './approvals/hub-approvals.ts';
import type { ClientNotices } from './client-notices.ts';
import type { DefinitionReport } from './definitions/definition-report.ts';
import type { Diagnosis, DiagnosisOptions } from './diagnosis/diagnosis.ts';
import type { HubEventListener } from './events/event-emitter.ts';
import type { HubMeter } from './hub-meter.ts';
import type { ServerLogs } from './server-logs.ts';
import type { StateKeeper } from './state-keeper.ts';

/** A running hub, as the faces use it. */
export interface Hub {
  readonly workspace: string;
  readonly configuration: Configuration;
  readonly ledger: Ledger;
  readonly state: Pick<StateKeeper, 'isIntact' | 'onRestored'>;
  readonly callsInFlight: number;
  /** Running processes of stdio servers, without the watchdog. */
  readonly childrenRunning: number;
  call(request: CallRequest): { readonly call: Call; readonly result: Promise<CallResult> };
  /** Whether a server of the caller supports logging. */
  mayLog(caller: Caller): boolean;
  /** For a call that subscribes: reports changes as long as the caller may read the resource. */
  resourceSubscription(caller: Caller, uri: string, onUpdate: (uri: string) => void): ResourceSubscription;
  /** Ends the calls in flight of callers that lost their right to them. */
  cancelCalls(isOver: (caller: Caller) => boolean): void;
  /** The lists for clients, programs and the operator. */
  readonly lists: AgentLists;
  /** The caller's current view of its project. No face uses it: they have `lists`. */
  viewOf(caller: ListCaller): View;
  /** The agents that have valid tokens. Each has a share of the servers before its first call. */
  keepShares(agents: Iterable<string>): void;
  /** An authenticated caller, or the operator acting as an agent. */
  callerFor(identity: CallerIdentity): Caller;
  status(): readonly ServerStatus[];
  /** The load of the servers in use. */
  load(): readonly ServerLoad[];
  /** Problems of the configuration, and names in it that no known server has. */
  problems(): readonly Problem[];
  /** Names in lists and rules that no server has, of those whose tools are known. The problems include these. */
  unknownNames(): readonly Problem[];
  /** Explains the decision on a tool, `resource:<uri>` or `prompt:<name>`; with arguments or labels, on one call. */
  explain(chain: readonly string[], server: string, tool: string, call?: ExplainedCall): Decision;
  /** What in the definitions of servers a person should look at. */
  findings(): readonly DefinitionFinding[];
  /** The same by another configuration, for tools as this hub knows them. Nothing of it takes effect. */
  explainerFor(configuration: Configuration): Hub['explain'];
  /** The labels of a run of the file workspace. Undefined if they cannot be read. */
  labelsOf(run: string): ReadonlySet<string> | undefined;
  /** The last known lists of the servers in use, in the order of the configuration. */
  catalogs(): ReadonlyMap<string, Catalog>;
  /** What these servers list, accepted or not, in the order of the configuration. For operators only. */
  definitions(): readonly DefinitionReport[];
  /** The problems with these definitions. `problems` includes them. */
  definitionProblems(): readonly Problem[];
  /** Where no lockfile says otherwise, what this server lists now counts as accepted. Throws if none has that name. */
  acceptListed(server: string): void;
  /** Connects servers and lists their tools. Resolves when each has answered or failed. */
  discover(servers?: readonly string[]): Promise<void>;
  /** Applies the files on disk at once. With `files`, only these. */
  reload(files?: readonly string[]): Promise<void>;
  /**
   * Stops these servers, or all, as if their approvals were taken back, while this process runs. For an operator who cannot
   * write the approvals because the disk is full.
   */
  withhold(servers: readonly string[] | undefined): Promise<void>;
  /** What servers wrote to stderr. */
  readonly serverLogs: ServerLogs;
  /** Tests and inspects servers for the operator. */
  diagnosis(options: DiagnosisOptions): Diagnosis;
  /** Connects to one server now, even if it failed a moment ago. Throws if none has that name. */
  retry(server: string): void;
  onReload(listener: (configuration: Configuration) => void): () => void;
  /** Events of servers, lists, configuration and client sessions. Calls are in the ledger. */
  onEvent(listener: HubEventListener): () => void;
  /** Items of the configuration that nobody approved. */
  pending(): readonly PendingItem[];
  /** Why the active configuration differs from the files. The problems include these. */
  configurationNotices(): readonly Problem[];
  /** Signs the state that clients keep for the hub between two requests. */
  /** Approvals of held calls. */
  readonly approvals: HubApprovals;
  readonly requestStates: RequestStates;
  readonly clients: ClientNotices;
  /** Takes no new calls, gives calls in flight time to finish, then closes everything. */
  stop(): Promise<void>;
}

/** A call that nobody makes. Without labels, its run has none. */
export interface ExplainedCall {
  readonly args: CallArguments;
  readonly labels?: ReadonlySet<string> | undefined;
}

export interface CallerIdentity {
  readonly agent: string;
  /** The default is the file workspace. */
  readonly project?: string;
  readonly chain?: readonly string[];
  readonly tokenId?: string;
  readonly run?: string | undefined;
  readonly runKeys?: readonly string[];
  readonly answers?: AnswerBudget | undefined;
}

export interface HubDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: RandomBytes;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the settings and the keychain of the user are found, if not by `env`. */
  readonly userEnv?: Readonly<Record<string, string | undefined>> | undefined;
  /** The built-in servers. Without it, configured ones are unavailable. */
  readonly builtins?: Builtins | undefined;
  readonly meter?: HubMeter | undefined;
  /** The person who runs the hub. Default: `operator`. */
  readonly operator?: string | undefined;
  /** Where the hub is reached over HTTP, once it has a port. */
  readonly ownUrl?: (() => string | undefined) | undefined;
  /** Traces calls, if given. */
  readonly tracer?: CallTracer | undefined;
}

export interface HubOptions {
  readonly workspace: string;
  /** The folder that holds the state of all workspaces. */
  readonly stateHome: string;
  /** Take up changes of the configuration files by itself. */
  readonly watch: boolean;
  /** Connect to undiscovered servers at once instead of on first use. */
  readonly discover?: boolean | undefined;
  /** Default: `stored`. */
  readonly trust?: TrustMode | undefined;
  /** Where agents write, if it is not the workspace: programs are kept from code there. */
  readonly agentFolder?: string | undefined;
}
