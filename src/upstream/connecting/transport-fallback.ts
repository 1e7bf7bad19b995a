import { type ErrorCode, HubError } from '../../base/index.ts';
import type { ServerSpec, TransportSpec } from '../../domain/index.ts';
import type { Era } from '../../mcp/index.ts';
import { unsentHint } from '../failures.ts';
import type { FailedReply, Transport } from '../transport.ts';
import { type AttemptDeps, type AttemptOutcome, attempt, type IsolationTerms } from './attempt.ts';
import type { Agreement } from './handshake.ts';
import type { StartPlace } from './start-queue.ts';

/** One transport of a server, and its place in the order of attempts. */
export interface Step {
  readonly place: number;
  readonly transportSpec: TransportSpec;
  /** Not configured, but implied: the older transport at an address without Streamable HTTP. */
  readonly implicit: boolean;
}

/** The transport that works. */
export interface Via {
  readonly place: number;
  /** The earlier ones are not supported there. Otherwise they were only unavailable and are tried again. */
  readonly settled: boolean;
}

export type FallbackOutcome =
  | { readonly kind: 'opened'; readonly transport: Transport; readonly agreement: Agreement; readonly via: Via }
  | { readonly kind: 'failed'; readonly failure: FailedReply };

export interface FallbackOptions {
  readonly spec: ServerSpec;
  readonly client: { readonly name: string; readonly version: string };
  /** The owner of an isolated connection. Undefined if it is shared. */
  readonly terms?: IsolationTerms | undefined;
  /** The remembered result. */
  readonly known: (Via & { readonly era: Era | undefined; readonly first: boolean }) | undefined;
  /** For the handshake of each attempt. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** The place in the start queue. Without it, processes start at once. */
  readonly start?: StartPlace | undefined;
  readonly onAttempt?: (step: Step, outcome: AttemptOutcome, durationMs: number) => void;
}

/** Tries the transports of a server in order until one answers, even if it refuses. */
export async function openFirstTransport(deps: AttemptDeps, options: FallbackOptions): Promise<FallbackOutcome> {
  const { spec, client, terms, known, timeoutMs, signal, start } = options;
  const steps = stepsOf(spec);
  const remembered = known?.first === true ? steps[known.place] : undefined;
  const failed: FailedStep[] = [];
  for (const step of remembered === undefined
    ? steps
    : [remembered, ...steps.filter((other) => other !== remembered)]) {
    const { place, transportSpec: transport } = step;
    if (step.implicit && step !== remembered && !failed.some((other) => impliesSse(other, step))) continue;
    const startedAt = deps.clock.monotonic();
    const era = known?.place === place ? known.era : undefined;
    const who = { server: spec.name, spec, client, terms };
    const outcome = await attempt(deps, { ...who, transportSpec: transport, known: era, timeoutMs, signal, start });
    options.onAttempt?.(step, outcome, deps.clock.monotonic() - startedAt);
    if (outcome.kind === 'opened') {
      const settled = step === remembered ? known?.settled === true : isSettled(place, failed);
      return { ...outcome, via: { place, settled } };
    }
    failed.push({ step, failure: outcome.failure });
    if (signal.aborted || isFinalRefusal(outcome.failure)) return outcome;
  }
  return { kind: 'failed', failure: allFailed(deps, spec.name, failed) };
}

/** All transports to try, in order. The places are stable for one configuration of the transports. */
export function stepsOf(spec: ServerSpec): readonly Step[] {
  const configured = [spec.transport, ...spec.fallbacks];
  const transports = configured.flatMap((transport): Omit<Step, 'place'>[] => {
    const step = { transportSpec: transport, implicit: false };
    if (transport.type !== 'http') return [step];
    const { url, headers } = transport;
    if (configured.some((other) => other.type === 'sse' && other.url === url)) return [step];
    return [step, { transportSpec: { type: 'sse', url, headers }, implicit: true }];
  });
  return transports.map((step, place) => ({ ...step, place }));
}

interface FailedStep {
  readonly step: Step;
  readonly failure: FailedReply;
}

/** An address without Streamable HTTP probably has the older transport. */
function impliesSse({ step, failure }: FailedStep, implicit: Step): boolean {
  return step.place === implicit.place - 1 && lacksStreamableHttp(failure);
}

function lacksStreamableHttp({ httpStatus }: FailedReply): boolean {
  return httpStatus === 404 || httpStatus === 405;
}

/** The server answered with a refusal. Another transport would only bypass it. */
const finalRefusals: ReadonlySet<ErrorCode> = new Set([
  'UPSTREAM_NEEDS_LOGIN',
  'UPSTREAM_FORBIDDEN',
  'UPSTREAM_THROTTLED',
  'HUB_STOPPING',
]);

function isFinalRefusal({ error }: FailedReply): boolean {
  return finalRefusals.has(error.code);
}

function isSettled(place: number, failed: readonly FailedStep[]): boolean {
  return failed.every(({ step, failure }) => step.place > place || lacksStreamableHttp(failure));
}

/** The failure of a single attempt as it is. For several, a short reason for each. */
function allFailed(deps: AttemptDeps, server: string, failed: readonly FailedStep[]): FailedReply {
  const [first, second] = failed;
  if (first !== undefined && second === undefined) return first.failure;
  const attempts = failed.map(({ step, failure }) => ({
    transport: step.transportSpec.type,
    reason: deps.redact(reasonOf(failure)),
  }));
  const story = attempts.map(({ transport, reason }) => `${transport}: ${reason}`).join('; ');
  const hints = new Set(failed.map(({ failure }) => failure.error.hint).filter((hint) => hint !== unsentHint));
  const stderrTail = failed.findLast(({ failure }) => failure.error.details.stderrTail)?.failure.error.details
    .stderrTail;
  const error = new HubError('UPSTREAM_UNAVAILABLE', `Server "${server}" cannot be reached: ${story}.`, {
    cause: failed.at(-1)?.failure.error,
    hint: hints.size === 0 ? unsentHint : [...hints].join(' '),
    details: { server, attempts, ...(stderrTail === undefined ? {} : { stderrTail }) },
  });
  return { kind: 'failed', error, cause: 'connection', sent: false, httpStatus: undefined };
}

function reasonOf({ error, httpStatus }: FailedReply): string {
  if (httpStatus !== undefined && httpStatus !== 200) return String(httpStatus);
  const { reason } = error.details;
  return typeof reason === 'string' ? reason : error.message;
}
