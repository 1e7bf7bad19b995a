import { type Clock, HubError, type Timer } from '../../base/index.ts';
import type { Isolation, ServerLoad, ServerSpec } from '../../domain/index.ts';
import { sharedCapabilities } from '../../mcp/index.ts';
import { lostConnection } from '../failures.ts';
import type { UpstreamDispatch, UpstreamHandles } from '../handles.ts';
import type { IsolationTerms } from './attempt.ts';

/** The connections of a server with `isolation`: one per agent, or one per client session. */
export interface IsolatedConnections {
  /** Equal for requests that share a connection. */
  keyOf(request: ConnectionOwner): string;
  /** Opens the connection if needed. Throws HubError if there are too many. */
  at(request: ConnectionOwner): UpstreamDispatch;
  /** The client is gone, so its connection is no longer needed. */
  endSession(session: string): void;
  /** The roots of that session's client have changed. */
  rootsChanged(session: string): void;
  /** Keeps the connections and applies new limits. */
  replaceSpec(spec: ServerSpec): void;
  /** Lets calls in flight finish, then closes. */
  retire(): Promise<void>;
  loads(): readonly ServerLoad[];
  close(): Promise<void>;
}

export interface ConnectionOwner {
  readonly agent: string;
  readonly session: string;
  /** The client's capabilities, as a JSON object. */
  readonly capabilities: string;
}

export interface IsolatedConnectionsDeps {
  readonly clock: Clock;
  open(spec: ServerSpec, isolated: IsolationTerms): UpstreamHandles;
  /** The server was retired, and the last call over its connections has ended. */
  onRetired?(): void;
}

/** All capabilities that a client may have. Whether a client has one is checked when the server uses it. */
export function everyCapability({ roots }: Pick<ServerSpec, 'roots'>): string {
  const forRoots = roots === 'client' ? '"roots":{},' : '';
  return `{"elicitation":{"form":{},"url":{}},${sharedCapabilities.slice(1, -1)},${forRoots}"sampling":{}}`;
}

const rootsChanged = 'notifications/roots/list_changed';

const maxIsolated = 64;
/** An agent may open connections while it has fewer than this many times the free ones: 48 if it is the only one. */
const shareOfFree = 3;
/** Of an agent beyond its share, and beyond the limit of all: a program may take long to end. */
const maxLeaving = 4;
/** Clients seldom end their sessions. */
const idleMs = 10 * 60_000;

interface IsolatedConnection {
  readonly handles: UpstreamHandles;
  readonly agent: string;
  readonly session: string;
  lastUsed: number;
}

export function createIsolatedConnections(
  deps: IsolatedConnectionsDeps,
  spec: ServerSpec,
  isolation: Exclude<Isolation, 'shared'>,
): IsolatedConnections {
  return new OwnedConnections(deps, spec, isolation);
}

/** Opened on first use. A sweep closes those that were idle for long, and the agent with the most makes room. */
class OwnedConnections implements IsolatedConnections {
  readonly #deps: IsolatedConnectionsDeps;
  readonly #isPerSession: boolean;
  readonly #connections = new Map<string, IsolatedConnection>();
  /** Connections that are closing, with their agents. They count until their program has ended. */
  readonly #leaving = new Map<Promise<void>, string>();
  #spec: ServerSpec;
  #closed = false;
  #sweep: Timer | undefined;

  constructor(deps: IsolatedConnectionsDeps, spec: ServerSpec, isolation: Exclude<Isolation, 'shared'>) {
    this.#deps = deps;
    this.#spec = spec;
    this.#isPerSession = isolation === 'per-session';
  }

  keyOf({ agent, session, capabilities }: ConnectionOwner): string {
    return this.#isPerSession ? [agent, session, capabilities].join('\n') : agent;
  }

  at(request: ConnectionOwner): UpstreamDispatch {
    if (this.#closed) throw lostConnection(this.#spec.name, 'it was removed from the configuration', false).error;
    const key = this.keyOf(request);
    const isolated = this.#connections.get(key) ?? this.#open(key, request);
    isolated.lastUsed = this.#deps.clock.monotonic();
    return isolated.handles.dispatch;
  }

  endSession(session: string): void {
    if (!this.#isPerSession) return;
    for (const [key, isolated] of this.#connections) if (isolated.session === session) this.#close(key, isolated);
  }

  rootsChanged(session: string): void {
    if (!this.#isPerSession || this.#spec.roots !== 'client') return;
    for (const isolated of this.#connections.values())
      if (isolated.session === session) isolated.handles.dispatch.connection?.notify(rootsChanged);
  }

  loads(): readonly ServerLoad[] {
    return [...this.#connections.values()].map(({ handles }) => handles.control.load());
  }

  replaceSpec(spec: ServerSpec): void {
    this.#spec = spec;
    for (const { handles } of this.#connections.values()) handles.control.replaceSpec(spec);
  }

  async retire(): Promise<void> {
    this.#stopOpening();
    for (const [key, isolated] of this.#connections) this.#close(key, isolated);
    await Promise.all(this.#leaving.keys());
    this.#deps.onRetired?.();
  }

  async close(): Promise<void> {
    this.#stopOpening();
    const open = [...this.#connections.values()];
    this.#connections.clear();
    await Promise.all([...open.map(({ handles }) => handles.control.close()), ...this.#leaving.keys()]);
  }

  #open(key: string, { agent, session, capabilities }: ConnectionOwner): IsolatedConnection {
    this.#makeRoom(agent);
    const terms: IsolationTerms = this.#isPerSession
      ? { capabilities, exclusive: true, session }
      : { capabilities: everyCapability(this.#spec), exclusive: true, session: undefined };
    const isolated: IsolatedConnection = {
      handles: this.#deps.open(this.#spec, terms),
      agent,
      session,
      lastUsed: this.#deps.clock.monotonic(),
    };
    this.#connections.set(key, isolated);
    this.#sweep ??= this.#deps.clock.setTimer(idleMs / 10, () => this.#sweepIdle());
    return isolated;
  }

  /**
   * Beyond its share, an agent closes an idle connection for a new one: one of the agent that has the most, and never
   * one of an agent that has no more than itself.
   */
  #makeRoom(agent: string): void {
    const counts = new Map<string, number>();
    for (const each of this.#connections.values()) counts.set(each.agent, (counts.get(each.agent) ?? 0) + 1);
    const leaving = [...this.#leaving.values()].filter((owner) => owner === agent).length;
    const own = (counts.get(agent) ?? 0) + leaving;
    const free = maxIsolated - this.#connections.size - this.#leaving.size;
    if (own < free * shareOfFree) return;
    if (leaving >= maxLeaving || free <= -maxLeaving) throw tooMany(this.#spec.name, free > 0);
    const idleSince = this.#deps.clock.monotonic() - idleMs;
    const countOf = (isolated: IsolatedConnection): number => counts.get(isolated.agent) ?? 0;
    const closable = [...this.#connections].filter(([, isolated]) =>
      isolated.agent === agent
        ? !isolated.handles.dispatch.busy
        : countOf(isolated) > own && isClosableForOthers(isolated, idleSince),
    );
    const [first] = closable.sort(([, a], [, b]) => countOf(b) - countOf(a) || a.lastUsed - b.lastUsed);
    if (first === undefined) throw tooMany(this.#spec.name, free > 0);
    this.#close(...first);
  }

  #sweepIdle(): void {
    const { clock } = this.#deps;
    const limit = clock.monotonic() - idleMs;
    for (const [key, isolated] of this.#connections)
      if (isolated.lastUsed <= limit && !isolated.handles.dispatch.busy) this.#close(key, isolated);
    this.#sweep = this.#connections.size === 0 ? undefined : clock.setTimer(idleMs / 10, () => this.#sweepIdle());
  }

  #close(key: string, { handles, agent }: IsolatedConnection): void {
    this.#connections.delete(key);
    const gone = handles.control.retire().finally(() => this.#leaving.delete(gone));
    this.#leaving.set(gone, agent);
  }

  #stopOpening(): void {
    this.#closed = true;
    this.#sweep?.cancel();
  }
}

/** Subscriptions alone keep a connection from other agents only for a while: nobody could ever end them otherwise. */
function isClosableForOthers({ handles, lastUsed }: IsolatedConnection, idleSince: number): boolean {
  const { busy, hasCalls } = handles.dispatch;
  return !busy || (!hasCalls && lastUsed <= idleSince);
}

function tooMany(server: string, isShare: boolean): HubError {
  const message = isShare
    ? `This agent has its share of the ${maxIsolated} connections of server "${server}", all in use or closing.`
    : `Server "${server}" has ${maxIsolated} connections of its own, all in use or closing.`;
  return new HubError('OVERLOADED', message, {
    hint: 'Wait for clients to end, or share connections with `isolation: per-agent`.',
    details: { server },
  });
}
