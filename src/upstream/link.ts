import { type Clock, HubError, type Logger } from '../base/index.ts';
import type { Catalog, ServerSpec } from '../domain/index.ts';
import type { Era } from '../mcp/index.ts';
import type { Children } from './children/index.ts';
import { type DiscoveryOutcome, discoverTools } from './discovery.ts';
import { type Agreement, shakeHands } from './handshake.ts';
import { keepListening } from './listen.ts';
import { createHttpWire } from './transports/http-wire.ts';
import { createStdioWire } from './transports/stdio-wire.ts';
import type { Wire, WireCall, WireFailure, WireRequest } from './wire.ts';

/** A live connection after its handshake. */
export interface Link {
  readonly transport: 'stdio' | 'http';
  readonly era: Era;
  readonly protocolVersion: string;
  readonly sessionId: string | null;
  readonly proven: boolean;
  send(request: WireRequest): WireCall;
  discover(): Promise<DiscoveryOutcome>;
  close(): Promise<void>;
}

export type LinkOutcome =
  | { readonly kind: 'linked'; readonly link: Link }
  | { readonly kind: 'failed'; readonly failure: WireFailure };

export interface LinkEvents {
  onToolsChanged(): void;
  onLost(error: HubError): void;
}

export interface LinkDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly children: Children;
  readonly redact: (text: string) => string;
  readonly events: LinkEvents;
}

export interface LinkOptions {
  readonly spec: ServerSpec;
  readonly client: { readonly name: string; readonly version: string };
  readonly known: Era | undefined;
  /** Gives the attempt up. */
  readonly signal: AbortSignal;
}

/** Covers a cold `npx`; a server that needs longer to say hello is treated as absent. */
const handshakeTimeoutMs = 30_000;
const discoveryTimeoutMs = 15_000;

export async function openLink(deps: LinkDeps, options: LinkOptions): Promise<LinkOutcome> {
  const first = await attempt(deps, options);
  if (first.kind !== 'died-of-probe') return first;
  const { failure } = first;
  if (options.signal.aborted) return { kind: 'failed', failure };
  const second = await attempt(deps, { ...options, known: 'legacy' });
  return second.kind === 'died-of-probe' ? { kind: 'failed', failure: second.failure } : second;
}

type Attempt = LinkOutcome | { readonly kind: 'died-of-probe'; readonly failure: WireFailure };

async function attempt(deps: LinkDeps, options: LinkOptions): Promise<Attempt> {
  const { spec, signal } = options;
  let linked = false;
  let subscriptions = 0;
  const wire = await openWire(deps, spec, {
    onNotification: (method) => {
      if (method === 'notifications/tools/list_changed') deps.events.onToolsChanged();
      // Between the end of one subscription and the start of the next, changes are not announced.
      if (method === 'notifications/subscriptions/acknowledged' && subscriptions++ > 0) deps.events.onToolsChanged();
    },
    // Before the handshake is done its own failure tells the story.
    onLost: (error) => linked && deps.events.onLost(error),
  });
  const outcome = await shakeHands(wire, deps.clock, {
    server: spec.name,
    client: options.client,
    known: options.known,
    timeoutMs: handshakeTimeoutMs,
    signal,
  });
  if (outcome.kind === 'agreed') {
    linked = true;
    return { kind: 'linked', link: toLink(deps, wire, outcome.agreement) };
  }
  await wire.close();
  return outcome;
}

async function openWire(
  deps: LinkDeps,
  spec: ServerSpec,
  events: Parameters<typeof createStdioWire>[0]['events'],
): Promise<Wire> {
  const { clock, logger } = deps;
  const { transport, name } = spec;
  switch (transport.type) {
    case 'stdio': {
      const child = await deps.children.start({ server: name, ...transport });
      return createStdioWire({ clock, logger, child, events, redact: deps.redact }, { server: name });
    }
    case 'http':
      return createHttpWire({ clock, logger, events }, { server: name, transport });
    case 'sse':
      throw new HubError('SERVER_INVALID', `Server "${name}" speaks SSE, which is not there yet.`);
  }
}

function toLink(deps: LinkDeps, wire: Wire, agreement: Agreement): Link {
  const closing = new AbortController();
  let stopListening: (() => void) | undefined;
  if (agreement.announcesTools) {
    if (agreement.era === 'modern') stopListening = keepListening(deps.clock, wire);
    else wire.openChangeStream();
  }
  return {
    transport: wire.transport,
    era: agreement.era,
    protocolVersion: agreement.version,
    sessionId: wire.sessionId,
    get proven() {
      return wire.proven;
    },
    send: (request) => wire.request(request),
    discover: async () => {
      if (!agreement.hasTools) return { kind: 'found', catalog: noTools(deps.clock.now()) };
      return discoverTools(wire, { now: deps.clock.now(), timeoutMs: discoveryTimeoutMs, signal: closing.signal });
    },
    async close() {
      // Calls may finish; nobody waits for what the hub itself still asked.
      closing.abort();
      stopListening?.();
      await wire.close();
    },
  };
}

function noTools(at: number): Catalog {
  return { tools: [], at, warnings: [] };
}
