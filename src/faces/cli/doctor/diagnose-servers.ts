import { z } from 'zod';
import { sleep } from '../../../base/index.ts';
import type { Problem, ServerSpec } from '../../../domain/index.ts';
import type { Diagnosis, Hub } from '../../../hub/index.ts';
import type { ProbeAttempt } from '../../../upstream/index.ts';
import { findingSchema, problemSchema } from '../../api/index.ts';
import type { OperationRequest } from '../../control/index.ts';
import type { CliContext } from '../context.ts';
import { patienceOf, startingText } from './diagnosis-scope.ts';
import { doctorServerSchema } from './diagnosis-shapes.ts';
import { lateRow, probedRow } from './doctor-row.ts';

export const diagnoseParamsSchema = z.object({
  servers: z.array(z.string()).max(10_000),
  timeoutMs: z.number().positive().optional(),
  run: z.string().optional(),
  /** Definitions that differ from the accepted ones are errors. */
  frozen: z.boolean().optional(),
});

/** What happens during the operation `diagnose`. */
export const diagnoseEventSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('step'), server: z.string(), text: z.string() }),
  z.object({ kind: z.literal('found'), row: doctorServerSchema }),
]);

export type DiagnoseEvent = z.infer<typeof diagnoseEventSchema>;

export const diagnoseOutcomeSchema = z.object({
  run: z.string(),
  /** Every problem with a name or a definition. The word is that of the attach protocol. */
  renamed: z.array(problemSchema),
  /** A hub of an earlier version has none. */
  findings: z.array(findingSchema).default([]),
});

type Process = Pick<CliContext, 'clock' | 'mask'>;
type Request = Pick<OperationRequest, 'params' | 'signal' | 'tell'>;

/** Tests servers inside the hub and tells the client each result as soon as it is known. */
export async function diagnoseServers(
  cli: Process,
  hub: Hub,
  { params, signal, tell }: Request,
): Promise<z.infer<typeof diagnoseOutcomeSchema>> {
  const { servers, timeoutMs, run, frozen = false } = diagnoseParamsSchema.parse(params);
  const diagnosis = hub.diagnosis({ tool: 'doctor', run });
  const said = (event: DiagnoseEvent): void => tell(event);
  await inParallel(servers, signal, async (name) => {
    const spec = await readySpecOf(cli, hub, name);
    if (spec === undefined) said({ kind: 'found', row: lateRow(name) });
    else await diagnose(cli, { hub, diagnosis, timeoutMs }, spec, { signal, said });
  });
  const asked = new Set<string | undefined>(servers);
  if (frozen) await hub.discover(servers);
  const { taken, unknown } = diagnosis.nameProblems();
  const changed = hub
    .definitionProblems()
    .map((problem): Problem => (frozen ? { ...problem, severity: 'error' } : problem));
  const found = [...unknown, ...changed].filter(({ server }) => asked.has(server));
  return {
    run: diagnosis.run,
    renamed: [...taken, ...found],
    findings: diagnosis.findings().filter(({ server }) => asked.has(server)),
  };
}

async function diagnose(
  cli: Process,
  { hub, diagnosis, timeoutMs: wanted }: { hub: Hub; diagnosis: Diagnosis; timeoutMs: number | undefined },
  spec: ServerSpec,
  { signal, said }: { signal: AbortSignal; said: (event: DiagnoseEvent) => void },
): Promise<void> {
  const timeoutMs = wanted ?? patienceOf(spec);
  const step = (text: string): void => said({ kind: 'step', server: spec.name, text });
  step(startingText(spec));
  const onTried = (attempt: ProbeAttempt): void => step(afterwards(spec, attempt));
  const probe = await diagnosis.probe(spec, { timeoutMs, signal, onTried });
  if (signal.aborted) return;
  said({ kind: 'found', row: probedRow(cli, spec, probe, { timeoutMs, isConfigured: true }) });
  // The hub need not wait until it tries again by itself.
  const status = hub.status().find(({ name }) => name === spec.name);
  const isBehind = status?.tools === undefined || status.error !== undefined;
  if (probe.verdict === 'reachable' && status !== undefined && isBehind) hub.retry(spec.name);
}

const takeUpMs = 5000;
const pollMs = 100;

/** The hub applies a changed file a moment after it was written. */
export async function readySpecOf(
  { clock }: Pick<CliContext, 'clock'>,
  hub: Hub,
  name: string,
): Promise<ServerSpec | undefined> {
  const deadline = clock.monotonic() + takeUpMs;
  for (;;) {
    const server = hub.configuration.servers.get(name);
    if (server?.kind === 'ready' && server.spec.enabled) return server.spec;
    if (clock.monotonic() >= deadline) return undefined;
    await sleep(clock, pollMs);
  }
}

/** Describes the step after an attempt, in a few words. */
function afterwards(
  { transport, fallbacks }: ServerSpec,
  { transport: tried, verdict, httpStatus }: ProbeAttempt,
): string {
  if (verdict === 'reachable') return `${tried} answers, listing its tools`;
  const why = httpStatus === undefined ? `${tried} failed` : `${tried} answered ${httpStatus}`;
  if (tried === 'http' && (httpStatus === 404 || httpStatus === 405)) return `${why}, trying sse`;
  const all = [transport, ...fallbacks].map(({ type }) => type);
  const next = all[all.indexOf(tried) + 1];
  return next === undefined ? why : `${why}, trying ${next}`;
}

/** Probes at once; more would only slow down servers that start slowly. */
const workers = 8;

async function inParallel<Item>(
  items: readonly Item[],
  stop: AbortSignal,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  async function worker(): Promise<void> {
    for (;;) {
      const item = waiting.shift();
      if (item === undefined || stop.aborted) return;
      await work(item);
    }
  }
  await Promise.all(Array.from({ length: workers }, worker));
}
