import { type Clock, createId, HubError, version } from '../base/index.ts';
import { outcomeOf } from '../calls/index.ts';
import type { Fleet, ServerSpec } from '../domain/index.ts';
import {
  type CallEnd,
  type Ledger,
  ledgerConnection,
  ledgerSubject,
  type OpenCall,
  openLedger,
} from '../ledger/index.ts';
import { createCatalogStore, ensureStateFolder, workspaceLayout } from '../storage/index.ts';
import {
  createChildren,
  type Inspection,
  inspectServer,
  type Probe,
  type ProbeAttempt,
  probeServer,
} from '../upstream/index.ts';
import { baseEnvironment } from './base-environment.ts';
import type { HubDeps } from './create-hub.ts';
import { type ExposedName, exposedNames } from './exposed-names.ts';
import { createRedaction } from './redaction.ts';

/**
 * Looks at servers over connections of its own: a hub that runs in the same workspace notices nothing. What a server
 * offers is kept, so that the next hub can list it before the server is started again.
 */
export interface Diagnosis {
  /** The run that its lines on the ledger belong to. */
  readonly run: string;
  probe(spec: ServerSpec, options: LookOptions): Promise<Probe>;
  inspect(spec: ServerSpec, options: LookOptions): Promise<InspectOutcome>;
  /** Ends every server that was started. */
  close(): Promise<void>;
}

export type InspectOutcome =
  | { readonly kind: 'told'; readonly inspection: Inspection; readonly exposed: readonly ExposedName[] }
  | { readonly kind: 'away'; readonly probe: Probe };

export interface LookOptions {
  /** For each transport, and again for each list. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onTried?: (attempt: ProbeAttempt) => void;
}

export interface DiagnosisOptions {
  readonly fleet: Fleet;
  /** What is done, in the ledger's place for a tool; runs are named for it too. */
  readonly tool: 'doctor' | 'inspect';
  readonly run?: string | undefined;
}

/** Nobody waits for more after Ctrl-C. */
const graceMs = 1000;

export async function openDiagnosis(deps: HubDeps, options: DiagnosisOptions): Promise<Diagnosis> {
  const { clock, logger, random } = deps;
  const { fleet, tool } = options;
  const run = options.run ?? `${tool}-${createId(random, 8)}`;
  const baseEnv = baseEnvironment(deps.env);
  const redaction = createRedaction(fleet);
  const layout = workspaceLayout(fleet.workspace);
  await ensureStateFolder(layout, { clock, random, logger });
  const catalogs = createCatalogStore(layout, { clock, random, logger });
  const { workspace, ledger: settings } = fleet;
  const ledger = await openLedger({ clock, logger, random, redact: redaction }, { workspace, sync: settings.sync });
  const children = createChildren({ clock, logger, random }, { baseEnv, graceMs, builtins: deps.builtins });
  const client = { name: 'quartermaster', version };
  const upstreamDeps = { clock, logger, children, redact: redaction.said };
  return {
    run,
    async probe(spec, look) {
      const call = openRecord(ledger, spec, tool, run);
      const probe = await withinDeadline(clock, spec, look, (signal) =>
        probeServer(upstreamDeps, { spec, client, ...look, signal }),
      );
      const judged = ofUse(probe);
      await endRecord(ledger, call, judged);
      if (judged.remembered !== undefined) catalogs.save(spec.name, judged.remembered);
      return judged;
    },
    async inspect(spec, look) {
      const startedAt = clock.monotonic();
      const call = openRecord(ledger, spec, tool, run);
      const attempts: ProbeAttempt[] = [];
      const onTried = (attempt: ProbeAttempt): number => attempts.push(attempt);
      try {
        const inspection = await inspectServer(upstreamDeps, { spec, client, ...look, onTried });
        await endRecord(ledger, call, probeOf(spec, attempts, clock.monotonic() - startedAt));
        const exposed = await exposedNames({ clock, random, logger }, fleet, spec.name, inspection);
        return { kind: 'told', inspection, exposed };
      } catch (error) {
        if (attempts.length === 0) throw error;
        const probe = probeOf(spec, attempts, clock.monotonic() - startedAt);
        await endRecord(ledger, call, probe);
        return { kind: 'away', probe };
      }
    },
    async close() {
      await children.close();
      await catalogs.flush();
      await ledger.close();
    },
  };
}

/** Each transport may take its time, and so may the lists; together they have an end. */
async function withinDeadline(
  clock: Clock,
  { name, fallbacks }: ServerSpec,
  { timeoutMs, signal }: LookOptions,
  look: (signal: AbortSignal) => Promise<Probe>,
): Promise<Probe> {
  const late = new AbortController();
  const limitMs = timeoutMs * (fallbacks.length + 2);
  const timer = clock.setTimer(limitMs, () => late.abort());
  const probe = await look(AbortSignal.any([signal, late.signal]));
  timer.cancel();
  const last = probe.attempts.at(-1);
  if (!late.signal.aborted || last?.error === undefined) return probe;
  const error = new HubError('UPSTREAM_TIMEOUT', `Server "${name}" was not done after ${limitMs / 1000} s.`, {
    details: { server: name },
  });
  return { ...probe, attempts: [...probe.attempts.slice(0, -1), { ...last, error }] };
}

/** A server that greets and then does not list its tools is of no use to anybody. */
function ofUse(probe: Probe): Probe {
  if (probe.verdict !== 'reachable' || probe.catalog !== undefined) return probe;
  const attempts = probe.attempts.map(
    (attempt): ProbeAttempt => (attempt.verdict === 'reachable' ? { ...attempt, verdict: 'unreachable' } : attempt),
  );
  return { ...probe, verdict: 'unreachable', attempts };
}

function probeOf({ name }: ServerSpec, attempts: readonly ProbeAttempt[], durationMs: number): Probe {
  const verdict = attempts.find((attempt) => attempt.verdict !== 'unreachable')?.verdict ?? 'unreachable';
  return { server: name, verdict, attempts, catalog: undefined, remembered: undefined, durationMs };
}

function openRecord(ledger: Ledger, { name, transport, fallbacks }: ServerSpec, tool: string, run: string): OpenCall {
  const subject = ledgerSubject({ agent: 'operator', chain: ['operator'], server: name, tool, decision: 'allow' });
  const transports = [transport, ...fallbacks].map(({ type }) => type);
  return ledger.open(subject, run, JSON.stringify({ transports }));
}

/** Both halves at once: only when a probe has ended is it known which connection it had. */
async function endRecord(ledger: Ledger, call: OpenCall, probe: Probe): Promise<void> {
  const last = probe.attempts.at(-1);
  if (last !== undefined) {
    const { transport, protocolVersion = null, sessionId } = last;
    await ledger.sent(call, ledgerConnection({ transport, protocolVersion, sessionId }));
  }
  ledger.done(call, endOf(probe));
}

function endOf({ verdict, attempts, durationMs }: Probe): CallEnd {
  const last = attempts.at(-1);
  const error = last?.error;
  const outcome = verdict === 'reachable' ? 'ok' : outcomeOf(error?.code ?? 'UPSTREAM_UNAVAILABLE');
  return {
    outcome,
    durationMs,
    retries: Math.max(0, attempts.length - 1),
    ...(error === undefined ? {} : { error: error.message }),
    ...(last?.httpStatus === undefined ? {} : { httpStatus: last.httpStatus }),
  };
}
