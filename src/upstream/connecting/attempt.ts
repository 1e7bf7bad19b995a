import { ByteBudget, type Clock, type Logger, toHubError } from '../../base/index.ts';
import type { ServerSpec, TransportSpec } from '../../domain/index.ts';
import type { Era } from '../../mcp/index.ts';
import type { Children } from '../children/index.ts';
import { startFailure } from '../failures.ts';
import type { FailedReply, Transport, TransportEvents } from '../transport.ts';
import type { Credentials } from '../transports/credentials.ts';
import { createHttpTransport } from '../transports/http-transport.ts';
import { maxMessageBytes } from '../transports/message-limit.ts';
import { createSseTransport } from '../transports/sse-transport.ts';
import { createStdioTransport } from '../transports/stdio-transport.ts';
import { guardedProgram } from './guarded-program.ts';
import { type Agreement, type HandshakeOutcome, negotiate } from './handshake.ts';
import { checkProgram, type ProgramContext } from './program-context.ts';
import type { StartPlace } from './start-queue.ts';

/** The outcome of one attempt: a transport after its handshake, or the failure. */
export type AttemptOutcome =
  | { readonly kind: 'opened'; readonly transport: Transport; readonly agreement: Agreement }
  | { readonly kind: 'failed'; readonly failure: FailedReply };

export interface AttemptDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly children: Children;
  readonly programs: ProgramContext;
  readonly redact: (text: string) => string;
  readonly events: TransportEvents;
  /** Without it, the headers of the transport's own specification are sent. */
  readonly credentials?: Credentials | undefined;
}

/** The terms of an isolated connection. */
export interface IsolationTerms {
  /** The capabilities of its callers, as a JSON object. A legacy server gets them in the handshake. */
  readonly capabilities: string;
  /** One caller at a time uses it, so that the server's requests and logs can be attributed to a caller. */
  readonly exclusive: boolean;
  /** The client session that owns it, if it belongs to one. */
  readonly session?: string | undefined;
}

export interface AttemptOptions {
  readonly server: string;
  readonly spec: ServerSpec;
  readonly transportSpec: TransportSpec;
  readonly client: { readonly name: string; readonly version: string };
  readonly known: Era | undefined;
  readonly terms: IsolationTerms | undefined;
  readonly timeoutMs: number;
  /** Cancels the attempt. */
  readonly signal: AbortSignal;
  /** The place in the start queue. */
  readonly start: StartPlace | undefined;
}

/** Never rejects. Each failure is an outcome, so that the next transport can be tried. */
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
  const guarded: TransportEvents = {
    onNotification: events.onNotification,
    // Before the handshake is done, its own failure is reported instead.
    onLost: (error) => linked && events.onLost(error),
    onRefused: (error) => linked && events.onRefused(error),
  };
  const started = options.transportSpec.type === 'stdio' ? await options.start?.turn(options.signal) : undefined;
  try {
    return await openAndShake({ ...deps, events: guarded }, options, () => {
      linked = true;
    });
  } finally {
    started?.();
  }
}

async function openAndShake(deps: AttemptDeps, options: AttemptOptions, onAgreed: () => void): Promise<TryOutcome> {
  const { transport, stderr, check } = await openTransport(deps, options);
  const outcome = await negotiate(transport, deps.clock, options);
  if (outcome.kind === 'agreed') {
    await check?.().catch(async (error: unknown) => {
      await transport.close();
      throw error;
    });
    onAgreed();
    return { kind: 'opened', transport, agreement: outcome.agreement };
  }
  const failure = startFailure(options.server, outcome.failure, stderr());
  await transport.close();
  return { kind: outcome.kind, failure };
}

interface Opened {
  readonly transport: Transport;
  /** The end of the child's stderr output, redacted. */
  stderr(): string;
  /** Checks a program once more: its files may have been replaced while it started. */
  readonly check?: () => Promise<void>;
}

async function openTransport(deps: AttemptDeps, options: AttemptOptions): Promise<Opened> {
  const { server, spec, transportSpec, terms } = options;
  const exclusive = terms?.exclusive === true;
  const { clock, logger, events, redact, credentials } = deps;
  const stderr = (): string => '';
  const lines = new ByteBudget(maxMessageBytes, deps.children.lines);
  switch (transportSpec.type) {
    case 'stdio': {
      const check = (): Promise<void> => checkProgram(deps.programs, spec, transportSpec);
      await check();
      const program = guardedProgram(server, transportSpec, deps.programs);
      const child = await deps.children.start({ server, ...program, beforeRun: check });
      const transport = createStdioTransport({ clock, logger, child, events, redact, lines }, { server, exclusive });
      return { transport, check, stderr: () => redact(child.stderrTail()) };
    }
    case 'builtin': {
      const check = async (): Promise<void> => deps.programs.checkReach(spec, transportSpec);
      await check();
      const child = await deps.children.host({ server, ...transportSpec });
      const facts = { server, exclusive, transport: transportSpec.type };
      return { transport: createStdioTransport({ clock, logger, child, events, redact, lines }, facts), check, stderr };
    }
    case 'http':
      return {
        transport: await createHttpTransport(
          { clock, logger, events, credentials },
          { server, spec: transportSpec, exclusive },
        ),
        stderr,
      };
    case 'sse':
      return {
        transport: await createSseTransport(
          { clock, logger, events, credentials },
          { server, spec: transportSpec, exclusive },
        ),
        stderr,
      };
  }
}
