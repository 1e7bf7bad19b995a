import { type Fleet, type FleetServer, type Problem, placeOf, type ServerSpec } from '../../domain/index.ts';
import type { Probe, ProbeAttempt } from '../../upstream/index.ts';
import type { DoctorServer } from './diagnosis-shapes.ts';
import { type AdviceContext, adviceFor } from './doctor-advice.ts';
import type { Mask } from './mask.ts';

/** What the doctor says of a server that was probed; nothing in it is a secret. */
export function probedRow(
  { mask }: { readonly mask: Mask },
  spec: ServerSpec,
  probe: Probe,
  context: Omit<AdviceContext, 'redact'>,
): DoctorServer {
  const answered = probe.verdict === 'unreachable' ? undefined : probe.attempts.at(-1);
  return {
    name: spec.name,
    verdict: probe.verdict,
    source: placeOf(spec.source),
    transport: answered?.transport ?? null,
    protocolVersion: answered?.protocolVersion ?? null,
    sessionId: answered?.sessionId ?? null,
    httpStatus: answered?.httpStatus ?? null,
    durationMs: Math.round(probe.durationMs),
    tools: probe.catalog?.tools.map(({ name }) => name) ?? null,
    attempts: probe.attempts.map((attempt) => attemptRow(attempt, mask)),
    warnings: (probe.catalog?.warnings ?? []).map((warning) => mask.text(warning)),
    nextSteps: adviceFor(spec, probe, { ...context, redact: mask.text }),
  };
}

function attemptRow(attempt: ProbeAttempt, mask: Mask): DoctorServer['attempts'][number] {
  const { error } = attempt;
  return {
    transport: attempt.transport,
    implicit: attempt.implicit,
    verdict: attempt.verdict,
    httpStatus: attempt.httpStatus ?? null,
    protocolVersion: attempt.protocolVersion ?? null,
    sessionId: attempt.sessionId ?? null,
    durationMs: Math.round(attempt.durationMs),
    error: error === undefined ? null : { code: error.code, message: mask.text(error.message) },
  };
}

/** What the doctor says of a server that it does not try; undefined for one that is to be probed. */
export function unprobedRow(server: FleetServer): DoctorServer | undefined {
  if (server.kind === 'invalid') {
    return unprobed(server.name, 'invalid', placeOf(server.source), server.problems.filter(isError).map(correction));
  }
  const { spec } = server;
  if (spec.enabled) return undefined;
  return unprobed(spec.name, 'disabled', placeOf(spec.source), []);
}

function unprobed(
  name: string,
  verdict: DoctorServer['verdict'],
  source: string,
  nextSteps: readonly string[],
): DoctorServer {
  return {
    name,
    verdict,
    source,
    transport: null,
    protocolVersion: null,
    sessionId: null,
    httpStatus: null,
    durationMs: null,
    tools: null,
    attempts: [],
    warnings: [],
    nextSteps: [...nextSteps],
  };
}

function correction(problem: Problem): string {
  const { message, fix } = problem;
  return `${placeOf(problem)} ${message}${fix === undefined ? '' : ` ${fix}`}`;
}

function isError({ severity }: Problem): boolean {
  return severity === 'error';
}

/** 1: something is broken; 4: somebody has to log in or be allowed; 0: all that is switched on works. */
export function doctorExitCode(
  rows: readonly Pick<DoctorServer, 'verdict'>[],
  problems: readonly Problem[] = [],
): number {
  const has = (...verdicts: DoctorServer['verdict'][]): boolean =>
    rows.some(({ verdict }) => verdicts.includes(verdict));
  if (has('unreachable', 'invalid') || problems.some(isError)) return 1;
  return has('needs-auth', 'auth-failed') ? 4 : 0;
}

/** Of the servers in question, and of the configuration as a whole. */
export function problemsFor({ problems }: Fleet, servers: ReadonlySet<string>): Problem[] {
  return problems.filter(({ server }) => server === undefined || servers.has(server));
}

/** Those that no row tells: an invalid server has its errors beside its name. */
export function problemsApart(
  problems: readonly Problem[],
  rows: ReadonlyMap<string, DoctorServer | undefined>,
): Problem[] {
  return problems.filter(
    (problem) => !isError(problem) || problem.server === undefined || rows.get(problem.server)?.verdict !== 'invalid',
  );
}

/** The problems that make the hub refuse the whole configuration. */
export function fatalProblems({ problems }: Fleet): Problem[] {
  return problems.filter(({ fatal }) => fatal === true);
}

export function nameOf(server: FleetServer): string {
  return server.kind === 'ready' ? server.spec.name : server.name;
}
