import { type Clock, createId, HubError, type RandomBytes, version } from '../../base/index.ts';
import { outcomeOf } from '../../calls/index.ts';
import type { Configuration, ServerSpec } from '../../domain/index.ts';
import type { DefinitionFinding, ListedDefinitions } from '../../governance/index.ts';
import { type CallEnd, type Ledger, ledgerSubject, type OpenCall } from '../../ledger/index.ts';
import {
  type Inspection,
  inspectServer,
  type Probe,
  type ProbeAttempt,
  type ProbeDeps,
  probeServer,
  rememberedAfter,
  type ServerMemory,
} from '../../upstream/index.ts';
import type { DefinitionReview } from '../findings/definition-review.ts';
import { type ExposedName, exposedNames } from './exposed-names.ts';
import { type KnownNameProblems, knownNameProblems } from './known-name-problems.ts';
import { inspectRunning, probeRunning, type RunningServers } from './running-servers.ts';

/**
 * Tests and inspects the servers of the hub. A program that runs already is asked over the hub's own connection, since
 * two copies of it might disturb each other. Everything else gets a connection of its own. The lists are stored.
 */
export interface Diagnosis {
  /** The run of its ledger records. */
  readonly run: string;
  probe(spec: ServerSpec, options: LookOptions): Promise<Probe>;
  inspect(spec: ServerSpec, options: LookOptions): Promise<InspectOutcome>;
  nameProblems(): KnownNameProblems;
  /** What in the stored definitions of all servers a person should look at. */
  findings(): readonly DefinitionFinding[];
}

export type InspectOutcome =
  | { readonly kind: 'found'; readonly inspection: Inspection; readonly exposed: readonly ExposedName[] }
  | { readonly kind: 'unavailable'; readonly probe: Probe };

export interface LookOptions {
  /** For each transport, and again for each list. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onTried?: (attempt: ProbeAttempt) => void;
}

export interface DiagnosisOptions {
  /** What is done, in the ledger's place for a tool; runs are named for it too. */
  readonly tool: 'doctor' | 'inspect';
  readonly run?: string | undefined;
}

export interface DiagnosisDeps extends Omit<ProbeDeps, 'clock'> {
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly ledger: Ledger;
  readonly memory: ServerMemory;
  readonly running: RunningServers;
  readonly findingsIn: DefinitionReview['findingsIn'];
  configuration(): Configuration;
}

export function createDiagnosis(deps: DiagnosisDeps, { tool, run: wanted }: DiagnosisOptions): Diagnosis {
  const { clock, ledger, memory } = deps;
  const run = wanted ?? `${tool}-${createId(deps.random, 8)}`;
  const client = { name: 'quartermaster', version };
  return {
    run,
    async probe(spec, look) {
      const call = openRecord(ledger, spec, tool, run);
      const running = await probeRunning(deps, spec, look);
      const probe =
        running ??
        (await withinDeadline(clock, spec, look, (signal) => probeServer(deps, { spec, client, ...look, signal })));
      const judged = ofUse(probe);
      await endRecord(ledger, call, spec, judged);
      if (judged.remembered !== undefined) {
        memory.remember(spec.name, rememberedAfter(memory.recall(spec.name), judged.remembered, spec.lock));
      }
      return judged;
    },
    async inspect(spec, look) {
      const startedAt = clock.monotonic();
      const call = openRecord(ledger, spec, tool, run);
      const attempts: ProbeAttempt[] = [];
      const onTried = (attempt: ProbeAttempt): number => attempts.push(attempt);
      try {
        const inspection =
          (await inspectRunning(deps, spec, { ...look, onTried })) ??
          (await inspectServer(deps, { spec, client, ...look, onTried }));
        const probe = probeOf(spec, attempts, clock.monotonic() - startedAt);
        await endRecord(ledger, call, spec, { ...probe, catalog: inspection });
        return {
          kind: 'found',
          inspection,
          exposed: exposedNames(memory, deps.configuration(), spec.name, inspection),
        };
      } catch (error) {
        if (attempts.length === 0) throw error;
        const probe = probeOf(spec, attempts, clock.monotonic() - startedAt);
        await endRecord(ledger, call, spec, probe);
        return { kind: 'unavailable', probe };
      }
    },
    nameProblems: () => knownNameProblems(deps.configuration(), memory),
    findings: () => deps.findingsIn(storedDefinitions(deps.configuration(), memory)),
  };
}

function storedDefinitions(
  { servers }: Configuration,
  memory: Pick<ServerMemory, 'recall'>,
): ReadonlyMap<string, ListedDefinitions> {
  const stored = new Map<string, ListedDefinitions>();
  for (const [server, entry] of servers) {
    const known = entry.kind === 'ready' && entry.spec.enabled ? memory.recall(server) : undefined;
    if (known === undefined) continue;
    const { tools, resources = [], templates = [], prompts = [] } = known;
    stored.set(server, { tools, resources, templates, prompts });
  }
  return stored;
}

/** The limit for all transports and lists together. */
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
  const error = new HubError('UPSTREAM_TIMEOUT', `Server "${name}" did not finish within ${limitMs / 1000} s.`, {
    details: { server: name },
  });
  return { ...probe, attempts: [...probe.attempts.slice(0, -1), { ...last, error }] };
}

/** A server that connects but does not list its tools counts as failed. */
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

function openRecord(ledger: Ledger, spec: ServerSpec, tool: string, run: string): OpenCall {
  const subject = ledgerSubject({ agent: 'operator', chain: ['operator'], server: spec.name, tool, decision: 'allow' });
  return ledger.open(subject, run, JSON.stringify({ transports: transportsOf(spec) }));
}

function transportsOf({ transport, fallbacks }: ServerSpec): readonly string[] {
  return [transport, ...fallbacks].map(({ type }) => type);
}

type EndedProbe = Omit<Probe, 'catalog' | 'remembered'> & {
  readonly catalog: { readonly tools: readonly { readonly name: string }[] } | undefined;
};

/** Writes both records at once, because the connection and the listed tools are known only after the probe. */
async function endRecord(ledger: Ledger, call: OpenCall, spec: ServerSpec, probe: EndedProbe): Promise<void> {
  if (probe.catalog !== undefined) {
    const tools = probe.catalog.tools.map(({ name }) => name);
    ledger.amend(call, JSON.stringify({ transports: transportsOf(spec), tools }));
  }
  const last = probe.attempts.at(-1);
  if (last !== undefined) {
    const { transport, protocolVersion = null, sessionId } = last;
    await ledger.sent(call, ledger.connection({ transport, protocolVersion, sessionId }));
  }
  ledger.done(call, endOf(probe));
}

function endOf({ verdict, attempts, durationMs }: EndedProbe): CallEnd {
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
