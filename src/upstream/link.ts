import type { HubError } from '../base/index.ts';
import { onlyTools, type ServerSpec, type TransportKind } from '../domain/index.ts';
import type { Era } from '../mcp/index.ts';
import type { AttemptDeps } from './attempt.ts';
import { type ChainOptions, openChain, type Via } from './chain.ts';
import { type DiscoveryOutcome, discoverTools } from './discovery.ts';
import type { Agreement } from './handshake.ts';
import { keepListening } from './listen.ts';
import type { Wire, WireCall, WireFailure, WireRequest } from './wire.ts';

/** A live connection after its handshake. */
export interface Link {
  readonly transport: TransportKind;
  readonly era: Era;
  readonly protocolVersion: string;
  readonly sessionId: string | null;
  readonly proven: boolean;
  send(request: WireRequest): WireCall;
  discover(): Promise<DiscoveryOutcome>;
  close(): Promise<void>;
}

export type LinkOutcome =
  | { readonly kind: 'linked'; readonly link: Link; readonly via: Via }
  | { readonly kind: 'failed'; readonly failure: WireFailure };

export interface LinkEvents {
  onToolsChanged(): void;
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
  readonly known: ChainOptions['known'];
  /** Gives the attempt up. */
  readonly signal: AbortSignal;
}

/** Covers a cold `npx`; a server that needs longer to say hello is treated as absent. */
const handshakeTimeoutMs = 30_000;
const discoveryTimeoutMs = 15_000;

export async function openLink(deps: LinkDeps, options: LinkOptions): Promise<LinkOutcome> {
  const { events } = deps;
  let subscriptions = 0;
  const standing = { refused: false };
  const outcome = await openChain(
    {
      ...deps,
      events: {
        onNotification: (method) => {
          if (method === 'notifications/tools/list_changed') events.onToolsChanged();
          // Between the end of one subscription and the start of the next, changes are not announced.
          if (method === 'notifications/subscriptions/acknowledged' && subscriptions++ > 0) events.onToolsChanged();
        },
        onLost: events.onLost,
        onRefused(error) {
          standing.refused = true;
          events.onRefused(error);
        },
      },
    },
    { ...options, timeoutMs: handshakeTimeoutMs },
  );
  if (outcome.kind === 'failed') return outcome;
  return { kind: 'linked', link: toLink(deps, outcome.wire, outcome.agreement, standing), via: outcome.via };
}

function toLink(deps: LinkDeps, wire: Wire, agreement: Agreement, standing: { refused: boolean }): Link {
  const closing = new AbortController();
  let stopListening: (() => void) | undefined;
  if (agreement.announcesTools) {
    if (agreement.era === 'modern') stopListening = keepListening(deps.clock, wire);
    else wire.openChangeStream();
  }

  function sendAndWatch(request: WireRequest): WireCall {
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
    get proven() {
      return wire.proven;
    },
    send: (request) => (standing.refused ? sendAndWatch(request) : wire.request(request)),
    discover: async () => {
      if (!agreement.hasTools) return { kind: 'found', catalog: onlyTools([], deps.clock.now()) };
      const options = { now: deps.clock.now(), timeoutMs: discoveryTimeoutMs, signal: closing.signal };
      const outcome = await discoverTools(wire, options);
      if (outcome.kind === 'found') accepted();
      return outcome;
    },
    async close() {
      // Calls may finish; nobody waits for what the hub itself still asked.
      closing.abort();
      stopListening?.();
      await wire.close();
    },
  };
}
