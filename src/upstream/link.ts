import type { HubError } from '../base/index.ts';
import type { Catalog, ServerSpec, TransportKind } from '../domain/index.ts';
import type { Era } from '../mcp/index.ts';
import type { AttemptDeps } from './attempt.ts';
import { type ChainOptions, openChain, type Via } from './chain.ts';
import { type DiscoveryOutcome, discover } from './discovery.ts';
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
          if (listChanges.has(method)) events.onOfferChanged();
          // Between the end of one subscription and the start of the next, changes are not announced.
          if (method === 'notifications/subscriptions/acknowledged' && subscriptions++ > 0) events.onOfferChanged();
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

const listChanges: ReadonlySet<string> = new Set([
  'notifications/tools/list_changed',
  'notifications/resources/list_changed',
  'notifications/prompts/list_changed',
]);

function toLink(deps: LinkDeps, wire: Wire, agreement: Agreement, standing: { refused: boolean }): Link {
  const closing = new AbortController();
  let stopListening: (() => void) | undefined;
  const { announces, abilities } = agreement;
  const announcesAny = announces.tools || announces.resources || announces.prompts;
  if (agreement.era === 'modern') {
    if (announcesAny) stopListening = keepListening(deps.clock, wire, announces);
  } else if (announcesAny || abilities.subscriptions) wire.openChangeStream();

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
    discover: async (before) => {
      const { signal } = closing;
      const options = { now: deps.clock.now(), timeoutMs: discoveryTimeoutMs, signal, before };
      const outcome = await discover(wire, agreement, options);
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
