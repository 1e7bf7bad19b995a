import type { HubError } from '../base/index.ts';
import type { Catalog, ServerSpec, TransportKind } from '../domain/index.ts';
import type { AttemptDeps, AttemptOutcome } from './attempt.ts';
import { openChain, type Step } from './chain.ts';
import { type DiscoveryOutcome, discover } from './discovery.ts';
import { redacted, unlisted } from './failures.ts';
import type { RememberedServer } from './remembered.ts';

export type ProbeVerdict = 'reachable' | 'needs-auth' | 'auth-failed' | 'unreachable';

/** One transport, tried. */
export interface ProbeAttempt {
  readonly transport: TransportKind;
  /** Nobody configured it; an HTTP address without streamable HTTP made it likely. */
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
  /** Of the first attempt that was an answer. */
  readonly verdict: ProbeVerdict;
  readonly attempts: readonly ProbeAttempt[];
  /** Undefined where the tools could not be listed. */
  readonly catalog: Catalog | undefined;
  /** What a hub would remember of it; undefined where there is no catalog. */
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
  /** Hears of each attempt as it ends, for whoever watches. */
  readonly onTried?: (attempt: ProbeAttempt) => void;
}

/** Nobody listens: what a server announces during a look at it is of no interest. */
export const deaf: AttemptDeps['events'] = { onNotification() {}, onLost() {}, onRefused() {} };

/** Connects afresh, asks what the server offers and closes. Never throws for what the server does. */
export async function probeServer(deps: ProbeDeps, options: ProbeOptions): Promise<Probe> {
  const startedAt = deps.clock.monotonic();
  const attempts: ProbeAttempt[] = [];
  const onAttempt = (step: Step, outcome: AttemptOutcome, durationMs: number): void => {
    const attempt = toAttempt(deps, step, outcome, durationMs);
    attempts.push(attempt);
    options.onTried?.(attempt);
  };
  const outcome = await openChain({ ...deps, events: deaf }, { ...options, known: undefined, onAttempt });
  let catalog: Catalog | undefined;
  let remembered: RememberedServer | undefined;
  if (outcome.kind === 'opened') {
    const { timeoutMs, signal } = options;
    const now = deps.clock.now();
    const listed = await discover(outcome.wire, outcome.agreement, { now, timeoutMs, signal, before: undefined });
    await outcome.wire.close();
    if (listed.kind === 'found') {
      ({ catalog } = listed);
      const { warnings: _, ...offer } = catalog;
      const { agreement, via } = outcome;
      const { era, version: protocolVersion } = agreement;
      remembered = { connectionKey: options.spec.connectionKey, era, protocolVersion, verdictAt: now, via, ...offer };
    } else attempts.push(withoutTools(deps, options, attempts.pop() as ProbeAttempt, listed)); // the one that was opened
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
  const facts = { transport: step.transport.type, implicit: step.implicit, durationMs };
  if (outcome.kind === 'failed') {
    const { error, httpStatus } = outcome.failure;
    const verdict = verdictOf(error);
    const nothing = { protocolVersion: undefined, sessionId: null };
    return { ...facts, ...nothing, verdict, httpStatus, error: redacted(error, deps.redact) };
  }
  const { wire, agreement } = outcome;
  return {
    ...facts,
    verdict: 'reachable',
    // A handshake over HTTP has no other way to succeed.
    httpStatus: wire.transport === 'http' || wire.transport === 'sse' ? 200 : undefined,
    protocolVersion: agreement.version,
    sessionId: wire.sessionId,
    error: undefined,
  };
}

function verdictOf({ code }: HubError): ProbeVerdict {
  if (code === 'UPSTREAM_NEEDS_LOGIN') return 'needs-auth';
  return code === 'UPSTREAM_FORBIDDEN' ? 'auth-failed' : 'unreachable';
}

/** Some servers greet everybody and ask for a login only when it gets serious. */
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
  return { ...opened, verdict, httpStatus: failure.httpStatus, error: redacted(failure.error, deps.redact) };
}
