import { type HubError, sleep } from '../base/index.ts';
import { type Catalog, packageRunner, type ServerSpec, type TransportKind } from '../domain/index.ts';
import type { Era } from '../mcp/index.ts';
import type { AttemptDeps } from './attempt.ts';
import { type ChainOptions, openChain, type Via } from './chain.ts';
import { type DiscoveryOutcome, discover } from './discovery.ts';
import type { Agreement } from './handshake.ts';
import { createLane, type Lane } from './lane.ts';
import { type Listening, startListening } from './listen.ts';
import { createLogWish, type LogWish } from './log-wish.ts';
import { createSubscriptions } from './subscriptions.ts';
import { streamReopened } from './transports/change-stream.ts';
import { ask, controlRequest, type Wire, type WireCall, type WireFailure, type WireRequest } from './wire.ts';

/** A live connection after its handshake. */
export interface Link {
  readonly transport: TransportKind;
  readonly era: Era;
  readonly protocolVersion: string;
  readonly sessionId: string | null;
  readonly proven: boolean;
  readonly queuedBytes: number;
  /** Where it is there, calls take turns. */
  readonly lane: Lane | undefined;
  /** What a server says in between without naming a call can be told whose it is. */
  readonly tellsApart: boolean;
  /** Log messages from that level on are wanted; undefined where there are none, or none that could be told apart. */
  readonly log: LogWish | undefined;
  send(request: WireRequest): WireCall;
  notify(method: string): void;
  /** The server tells of changes of the resource from now on; the reply is its own. */
  watch(uri: string): WireCall;
  unwatch(uri: string): void;
  /** What the server offers, where `before` is what it is known for. */
  discover(before: Catalog | undefined): Promise<DiscoveryOutcome>;
  close(): Promise<void>;
}

export type LinkOutcome =
  | { readonly kind: 'linked'; readonly link: Link; readonly via: Via }
  | { readonly kind: 'failed'; readonly failure: WireFailure };

export interface LinkEvents {
  /** A list of the server may be another one by now. */
  onOfferChanged(): void;
  /** A resource has changed. */
  onResourceUpdated(params: Readonly<Record<string, unknown>>): void;
  /** For a while nobody heard what the server announced. */
  onGap(): void;
  /** For the client whose connection it is. */
  onNotice(method: string, params: Readonly<Record<string, unknown>>): void;
  onLost(error: HubError): void;
  /** The credential does not do any more: 401, 403 or 451 as the answer to a request. */
  onRefused(error: HubError): void;
  /** A request was answered after all. */
  onAccepted(): void;
}

export interface LinkDeps extends Omit<AttemptDeps, 'events'> {
  readonly events: LinkEvents;
}

export interface LinkOptions {
  readonly spec: ServerSpec;
  readonly client: { readonly name: string; readonly version: string };
  readonly seat: ChainOptions['seat'];
  readonly known: ChainOptions['known'];
  /** Gives the attempt up. */
  readonly signal: AbortSignal;
  readonly start: ChainOptions['start'];
}

/** A server that needs longer to say hello is treated as absent. */
const handshakeTimeoutMs = 30_000;
/** The same where the server may have to be downloaded first. */
const downloadTimeoutMs = 60_000;
/** A server that does not answer to a GET is not waited for any longer. */
const streamMs = 2000;
/** For what the hub asks on its own account. */
const ownTimeoutMs = 15_000;

export async function openLink(deps: LinkDeps, options: LinkOptions): Promise<LinkOutcome> {
  const { events } = deps;
  const standing: Standing = { refused: false, listening: undefined, opened: undefined };
  const outcome = await openChain(
    {
      ...deps,
      events: {
        onNotification(method, params) {
          if (listChanges.has(method)) events.onOfferChanged();
          else if (method === 'notifications/resources/updated') events.onResourceUpdated(params);
          else if (method === 'notifications/subscriptions/acknowledged') standing.listening?.acknowledged(params);
          else if (method === streamReopened) events.onGap();
          else if (method === 'notifications/elicitation/complete') events.onNotice(method, params);
        },
        onLost: events.onLost,
        onRefused(error) {
          standing.refused = true;
          events.onRefused(error);
        },
      },
    },
    { ...options, timeoutMs: packageRunner(options.spec) === undefined ? handshakeTimeoutMs : downloadTimeoutMs },
  );
  if (outcome.kind === 'failed') return outcome;
  const link = toLink(deps, options, outcome, standing);
  // Some servers ask on that stream, and what nobody hears is lost.
  if (options.seat?.exclusive === true && standing.opened !== undefined) {
    const enough = new AbortController();
    void standing.opened.then(() => enough.abort());
    await sleep(deps.clock, streamMs, enough.signal);
  }
  return { kind: 'linked', link, via: outcome.via };
}

interface Standing {
  /** What the server last said was 401 or 403. */
  refused: boolean;
  /** Of a modern server. */
  listening: Listening | undefined;
  /** Settles when the stream beside the calls of a legacy server is open, or is not to be had. */
  opened: Promise<void> | undefined;
}

const listChanges: ReadonlySet<string> = new Set([
  'notifications/tools/list_changed',
  'notifications/resources/list_changed',
  'notifications/prompts/list_changed',
]);

function toLink(
  deps: LinkDeps,
  { spec, seat }: LinkOptions,
  { wire, agreement }: { readonly wire: Wire; readonly agreement: Agreement },
  standing: Standing,
): Link {
  const closing = new AbortController();
  const exclusive = seat?.exclusive === true;
  const needsLane = exclusive && agreement.era === 'legacy' && wire.transport !== 'http';
  const { abilities } = agreement;
  const tellsApart = wire.transport === 'http' || exclusive;
  const logs = tellsApart && agreement.era === 'legacy' && abilities.logging;
  // Lists are read over the connection that the hub itself keeps.
  const announces = exclusive ? { tools: false, resources: false, prompts: false } : agreement.announces;
  const announcesAny = announces.tools || announces.resources || announces.prompts;
  if (agreement.era === 'modern') {
    standing.listening = startListening({ clock: deps.clock, wire, onGap: deps.events.onGap }, announces);
  } else if (announcesAny || abilities.subscriptions || exclusive) standing.opened = wire.openChangeStream();

  const send = (request: WireRequest): WireCall => (standing.refused ? sendAndSee(request) : wire.request(request));

  const subscriptions = standing.listening ?? createSubscriptions(send, ownTimeoutMs);

  function sendAndSee(request: WireRequest): WireCall {
    const call = wire.request(request);
    void call.reply.then((reply) => reply.kind !== 'failed' && accepted());
    return call;
  }

  /** Only after a refusal is it news that a request is answered. */
  function accepted(): void {
    if (!standing.refused) return;
    standing.refused = false;
    deps.events.onAccepted();
  }

  return {
    transport: wire.transport,
    era: agreement.era,
    protocolVersion: agreement.version,
    sessionId: wire.sessionId,
    lane: needsLane ? createLane(deps, { server: spec.name, patienceMs: spec.limits.timeoutMs }) : undefined,
    tellsApart,
    log: logs ? createLogWish((level) => ask(wire, setLevel(level), closing.signal)) : undefined,
    get queuedBytes() {
      return wire.queuedBytes;
    },
    get proven() {
      return wire.proven;
    },
    send,
    notify: (method) => void wire.notify(method),
    watch: (uri) => subscriptions.watch(uri),
    unwatch: (uri) => subscriptions.unwatch(uri),
    discover: async (before) => {
      const { signal } = closing;
      const options = { now: deps.clock.now(), timeoutMs: ownTimeoutMs, signal, before };
      const outcome = await discover(wire, agreement, options);
      if (outcome.kind === 'found') accepted();
      return outcome;
    },
    async close() {
      // Calls may finish; nobody waits for what the hub itself still asked.
      closing.abort();
      standing.listening?.stop();
      await wire.close();
    },
  };
}

function setLevel(level: string): WireRequest {
  return controlRequest('logging/setLevel', { level }, ownTimeoutMs);
}
