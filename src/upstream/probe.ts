import type { HubError } from '../base/index.ts';
import type { Catalog, ServerSpec, TransportKind } from '../domain/index.ts';
import { type DiscoveryOutcome, discover } from './catalog/discovery.ts';
import type { RememberedServer } from './catalog/remembered.ts';
import type { AttemptDeps, AttemptOutcome } from './connecting/attempt.ts';
import { openFirstTransport, type Step } from './connecting/transport-fallback.ts';
import { redactedFailure, unlisted } from './failures.ts';

export type ProbeVerdict = 'reachable' | 'needs-auth' | 'auth-failed' | 'unreachable';

/** One tried transport. */
export interface ProbeAttempt {
  readonly transport: TransportKind;
  /** Not configured, but implied by an address without Streamable HTTP. */
  readonly implicit: boolean;
  readonly verdict: ProbeVerdict;
  readonly httpStatus: number | undefined;
  readonly protocolVersion: string | undefined;
  readonly sessionId: string | null;
  readonly durationMs: number;
  readonly error: HubError | undefined;
}

export interface Probe {
  readonly server: string;
  /** From the first attempt that was answered. */
  readonly verdict: ProbeVerdict;
  readonly attempts: readonly ProbeAttempt[];
  /** Undefined if the tools could not be listed. */
  readonly catalog: Catalog | undefined;
  /** The facts that a hub would store. Undefined if there is no catalog. */
  readonly remembered: RememberedServer | undefined;
  readonly durationMs: number;
}

export type ProbeDeps = Omit<AttemptDeps, 'events'>;

export interface ProbeOptions {
  readonly spec: ServerSpec;
  readonly client: { readonly name: string; readonly version: string };
  readonly signal: AbortSignal;
  /** For the handshake of each attempt, and again for each page of a list. */
  readonly timeoutMs: number;
  /** Called when an attempt ends, to show progress. */
  readonly onTried?: (attempt: ProbeAttempt) => void;
}

/** Ignores announcements during a probe. */
export const deaf: AttemptDeps['events'] = { onNotification() {}, onLost() {}, onRefused() {} };

/** Opens a new connection, reads the lists and closes. Failures of the server are outcomes, not errors. */
export async function probeServer(deps: ProbeDeps, options: ProbeOptions): Promise<Probe> {
  const startedAt = deps.clock.monotonic();
  const attempts: ProbeAttempt[] = [];
  const onAttempt = (step: Step, outcome: AttemptOutcome, durationMs: number): void => {
    const attempt = toAttempt(deps, step, outcome, durationMs);
    attempts.push(attempt);
    options.onTried?.(attempt);
  };
  const outcome = await openFirstTransport({ ...deps, events: deaf }, { ...options, known: undefined, onAttempt });
  let catalog: Catalog | undefined;
  let remembered: RememberedServer | undefined;
  if (outcome.kind === 'opened') {
    const { timeoutMs, signal } = options;
    const now = deps.clock.now();
    const listed = await discover(outcome.transport, outcome.agreement, { now, timeoutMs, signal, before: undefined });
    await outcome.transport.close();
    if (listed.kind === 'found') {
      const { agreement, via } = outcome;
      const { era, version: protocolVersion, about } = agreement;
      catalog = { ...listed.catalog, instructions: about.instructions ?? '' };
      const { warnings: _, ...lists } = catalog;
      remembered = { connectionKey: options.spec.connectionKey, era, protocolVersion, verdictAt: now, via, ...lists };
    } else attempts.push(withoutTools(deps, options, attempts.pop() as ProbeAttempt, listed)); // the last one
  }
  return {
    server: options.spec.name,
    verdict: attempts.find(({ verdict }) => verdict !== 'unreachable')?.verdict ?? 'unreachable',
    attempts,
    catalog,
    remembered,
    durationMs: deps.clock.monotonic() - startedAt,
  };
}

export function toAttempt(deps: ProbeDeps, step: Step, outcome: AttemptOutcome, durationMs: number): ProbeAttempt {
  const facts = { transport: step.transportSpec.type, implicit: step.implicit, durationMs };
  if (outcome.kind === 'failed') {
    const { error, httpStatus } = outcome.failure;
    const verdict = verdictOf(error);
    const nothing = { protocolVersion: undefined, sessionId: null };
    return { ...facts, ...nothing, verdict, httpStatus, error: redactedFailure(error, deps.redact) };
  }
  const { transport, agreement } = outcome;
  return {
    ...facts,
    verdict: 'reachable',
    // A handshake over HTTP has no other way to succeed.
    httpStatus: transport.kind === 'http' || transport.kind === 'sse' ? 200 : undefined,
    protocolVersion: agreement.version,
    sessionId: transport.sessionId,
    error: undefined,
  };
}

function verdictOf({ code }: HubError): ProbeVerdict {
  if (code === 'UPSTREAM_NEEDS_LOGIN') return 'needs-auth';
  return code === 'UPSTREAM_FORBIDDEN' ? 'auth-failed' : 'unreachable';
}

/** Some servers accept every handshake and require a login only for requests. */
function withoutTools(
  deps: ProbeDeps,
  { spec }: ProbeOptions,
  opened: ProbeAttempt,
  { reason, failure }: DiscoveryOutcome & { kind: 'failed' },
): ProbeAttempt {
  const verdict = failure === undefined ? 'unreachable' : verdictOf(failure.error);
  if (failure === undefined || verdict === 'unreachable') {
    return { ...opened, error: unlisted(spec.name, deps.redact(reason)) };
  }
  return { ...opened, verdict, httpStatus: failure.httpStatus, error: redactedFailure(failure.error, deps.redact) };
}
