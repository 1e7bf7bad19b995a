import { type ErrorCode, HubError } from '../base/index.ts';
import type { ServerSpec, Transport } from '../domain/index.ts';
import type { Era } from '../mcp/index.ts';
import { type AttemptDeps, type AttemptOutcome, attempt, type ConnectionSeat } from './attempt.ts';
import { unsentHint } from './failures.ts';
import type { Agreement } from './handshake.ts';
import type { StartPlace } from './start-queue.ts';
import type { Wire, WireFailure } from './wire.ts';

/** One transport of a server, and where it stands among all that may be tried. */
export interface Step {
  readonly place: number;
  readonly transport: Transport;
  /** Nobody configured it: it follows an address that does not speak streamable HTTP. */
  readonly implicit: boolean;
}

/** The transport that won. */
export interface Via {
  readonly place: number;
  /** Those before it are not spoken there at all; otherwise they were merely away, and deserve another look. */
  readonly settled: boolean;
}

export type ChainOutcome =
  | { readonly kind: 'opened'; readonly wire: Wire; readonly agreement: Agreement; readonly via: Via }
  | { readonly kind: 'failed'; readonly failure: WireFailure };

export interface ChainOptions {
  readonly spec: ServerSpec;
  readonly client: { readonly name: string; readonly version: string };
  /** Who speaks over the connection; nobody in particular where it is shared. */
  readonly seat?: ConnectionSeat | undefined;
  /** What was found out before. */
  readonly known: (Via & { readonly era: Era | undefined; readonly first: boolean }) | undefined;
  /** For the handshake of each attempt. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Where servers wait for each other before a process is started; without it nobody waits. */
  readonly start?: StartPlace | undefined;
  readonly onAttempt?: (step: Step, outcome: AttemptOutcome, durationMs: number) => void;
}

/** Tries the transports of a server in order until one answers, be it with a no. */
export async function openChain(deps: AttemptDeps, options: ChainOptions): Promise<ChainOutcome> {
  const { spec, client, seat, known, timeoutMs, signal, start } = options;
  const steps = stepsOf(spec);
  const favourite = known?.first === true ? steps[known.place] : undefined;
  const failed: FailedStep[] = [];
  for (const step of favourite === undefined ? steps : [favourite, ...steps.filter((other) => other !== favourite)]) {
    const { place, transport } = step;
    if (step.implicit && step !== favourite && !failed.some((other) => invites(other, step))) continue;
    const startedAt = deps.clock.monotonic();
    const era = known?.place === place ? known.era : undefined;
    const who = { server: spec.name, client, seat };
    const outcome = await attempt(deps, { ...who, transport, known: era, timeoutMs, signal, start });
    options.onAttempt?.(step, outcome, deps.clock.monotonic() - startedAt);
    if (outcome.kind === 'opened') {
      const settled = step === favourite ? known?.settled === true : isSettled(place, failed);
      return { ...outcome, via: { place, settled } };
    }
    failed.push({ step, failure: outcome.failure });
    if (signal.aborted || isAnswer(outcome.failure)) return outcome;
  }
  return { kind: 'failed', failure: allFailed(deps, spec.name, failed) };
}

/** Everything that may be tried, in order. The places are stable for one configuration of the transports. */
export function stepsOf(spec: ServerSpec): readonly Step[] {
  const configured = [spec.transport, ...spec.fallbacks];
  const transports = configured.flatMap((transport): Omit<Step, 'place'>[] => {
    const step = { transport, implicit: false };
    if (transport.type !== 'http') return [step];
    const { url, headers } = transport;
    if (configured.some((other) => other.type === 'sse' && other.url === url)) return [step];
    return [step, { transport: { type: 'sse', url, headers }, implicit: true }];
  });
  return transports.map((step, place) => ({ ...step, place }));
}

interface FailedStep {
  readonly step: Step;
  readonly failure: WireFailure;
}

/** Streamable HTTP that is not there makes the older transport likely, at the same address. */
function invites({ step, failure }: FailedStep, implicit: Step): boolean {
  return step.place === implicit.place - 1 && isUnspoken(failure);
}

function isUnspoken({ httpStatus }: WireFailure): boolean {
  return httpStatus === 404 || httpStatus === 405;
}

/** The server is there and says no; another transport would only be a way around it. */
const answers: ReadonlySet<ErrorCode> = new Set([
  'UPSTREAM_NEEDS_LOGIN',
  'UPSTREAM_FORBIDDEN',
  'UPSTREAM_THROTTLED',
  'HUB_STOPPING',
]);

function isAnswer({ error }: WireFailure): boolean {
  return answers.has(error.code);
}

function isSettled(place: number, failed: readonly FailedStep[]): boolean {
  return failed.every(({ step, failure }) => step.place > place || isUnspoken(failure));
}

/** One attempt tells its own story; of several, each in a few words. */
function allFailed(deps: AttemptDeps, server: string, failed: readonly FailedStep[]): WireFailure {
  const [first, second] = failed;
  if (first !== undefined && second === undefined) return first.failure;
  const attempts = failed.map(({ step, failure }) => ({
    transport: step.transport.type,
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

function reasonOf({ error, httpStatus }: WireFailure): string {
  if (httpStatus !== undefined && httpStatus !== 200) return String(httpStatus);
  const { reason } = error.details;
  return typeof reason === 'string' ? reason : error.message;
}
