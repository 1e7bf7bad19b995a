import { type Clock, type Logger, toHubError } from '../base/index.ts';
import type { Transport } from '../domain/index.ts';
import type { Era } from '../mcp/index.ts';
import type { Children } from './children/index.ts';
import { startFailure } from './failures.ts';
import { type Agreement, type HandshakeOutcome, shakeHands } from './handshake.ts';
import type { StartPlace } from './start-queue.ts';
import { createHttpWire } from './transports/http-wire.ts';
import { createSseWire } from './transports/sse-wire.ts';
import { createStdioWire } from './transports/stdio-wire.ts';
import type { Wire, WireEvents, WireFailure } from './wire.ts';

/** One transport of one server, tried: a wire after its handshake, or why there is none. */
export type AttemptOutcome =
  | { readonly kind: 'opened'; readonly wire: Wire; readonly agreement: Agreement }
  | { readonly kind: 'failed'; readonly failure: WireFailure };

export interface AttemptDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly children: Children;
  readonly redact: (text: string) => string;
  readonly events: WireEvents;
}

/** A connection that not everybody shares. */
export interface ConnectionSeat {
  /** What its callers can be asked, as a JSON object; a legacy server hears it once, in the handshake. */
  readonly capabilities: string;
  /** One caller at a time uses it, so that what the server asks or logs can be told whose it is. */
  readonly exclusive: boolean;
  /** Whose it is, where one client session has it to itself. */
  readonly session?: string | undefined;
}

export interface AttemptOptions {
  readonly server: string;
  readonly transport: Transport;
  readonly client: { readonly name: string; readonly version: string };
  readonly known: Era | undefined;
  readonly seat: ConnectionSeat | undefined;
  readonly timeoutMs: number;
  /** Gives the attempt up. */
  readonly signal: AbortSignal;
  /** Where servers wait for each other before a process is started. */
  readonly start: StartPlace | undefined;
}

/** Never rejects: whatever goes wrong is an outcome, so that the next transport can be tried. */
export async function attempt(deps: AttemptDeps, options: AttemptOptions): Promise<AttemptOutcome> {
  try {
    return await openAndGreet(deps, options);
  } catch (error) {
    const failure = toHubError(error);
    return {
      kind: 'failed',
      failure: { kind: 'failed', error: failure, cause: 'connection', sent: false, httpStatus: undefined },
    };
  }
}

async function openAndGreet(deps: AttemptDeps, options: AttemptOptions): Promise<AttemptOutcome> {
  const first = await tryOnce(deps, options);
  if (first.kind !== 'died-of-probe') return first;
  const { failure } = first;
  if (options.signal.aborted) return { kind: 'failed', failure };
  const second = await tryOnce(deps, { ...options, known: 'legacy' });
  return second.kind === 'died-of-probe' ? { kind: 'failed', failure: second.failure } : second;
}

type TryOutcome = AttemptOutcome | Extract<HandshakeOutcome, { kind: 'died-of-probe' }>;

async function tryOnce(deps: AttemptDeps, options: AttemptOptions): Promise<TryOutcome> {
  let linked = false;
  const { events } = deps;
  const guarded: WireEvents = {
    onNotification: events.onNotification,
    // Before the handshake is done its own failure tells the story.
    onLost: (error) => linked && events.onLost(error),
    onRefused: (error) => linked && events.onRefused(error),
  };
  const started = options.transport.type === 'stdio' ? await options.start?.turn(options.signal) : undefined;
  try {
    return await openAndShake({ ...deps, events: guarded }, options, () => {
      linked = true;
    });
  } finally {
    started?.();
  }
}

async function openAndShake(deps: AttemptDeps, options: AttemptOptions, onAgreed: () => void): Promise<TryOutcome> {
  const { wire, stderr } = await openWire(deps, options);
  const outcome = await shakeHands(wire, deps.clock, options);
  if (outcome.kind === 'agreed') {
    onAgreed();
    return { kind: 'opened', wire, agreement: outcome.agreement };
  }
  const failure = startFailure(options.server, outcome.failure, stderr());
  await wire.close();
  return { kind: outcome.kind, failure };
}

interface Opened {
  readonly wire: Wire;
  /** The end of what a child wrote to stderr, without secrets. */
  stderr(): string;
}

async function openWire(deps: AttemptDeps, { server, transport, seat }: AttemptOptions): Promise<Opened> {
  const exclusive = seat?.exclusive === true;
  const { clock, logger, events, redact } = deps;
  const stderr = (): string => '';
  switch (transport.type) {
    case 'stdio': {
      const child = await deps.children.start({ server, ...transport });
      const wire = createStdioWire({ clock, logger, child, events, redact }, { server, exclusive });
      return { wire, stderr: () => redact(child.stderrTail()) };
    }
    case 'builtin': {
      const child = await deps.children.host({ server, ...transport });
      const options = { server, exclusive, transport: transport.type };
      return { wire: createStdioWire({ clock, logger, child, events, redact }, options), stderr };
    }
    case 'http':
      return { wire: await createHttpWire({ clock, logger, events }, { server, transport, exclusive }), stderr };
    case 'sse':
      return { wire: await createSseWire({ clock, logger, events }, { server, transport, exclusive }), stderr };
  }
}
