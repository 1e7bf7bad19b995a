import { lockfileName } from '../../../config/index.ts';
import {
  type Configuration,
  type ConfiguredServer,
  type Problem,
  placeOf,
  type ServerSpec,
} from '../../../domain/index.ts';
import type { Probe, ProbeAttempt } from '../../../upstream/index.ts';
import type { Mask } from '../terminal/mask.ts';
import type { DoctorServer } from './diagnosis-shapes.ts';
import { type AdviceContext, adviceFor } from './doctor-advice.ts';

/** The doctor's report on a probed server, without secrets. */
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
    sessionId: sessionOf(answered, mask),
    httpStatus: answered?.httpStatus ?? null,
    durationMs: Math.round(probe.durationMs),
    tools: probe.catalog?.tools.map(({ name }) => mask.text(name)) ?? null,
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
    sessionId: sessionOf(attempt, mask),
    durationMs: Math.round(attempt.durationMs),
    error: error === undefined ? null : { code: error.code, message: mask.text(error.message) },
  };
}

function sessionOf(attempt: ProbeAttempt | undefined, mask: Mask): string | null {
  return attempt?.sessionId == null ? null : mask.text(attempt.sessionId);
}

/** The doctor's report on a server that it does not probe; undefined for one to be probed. */
export function unprobedRow(server: ConfiguredServer): DoctorServer | undefined {
  if (server.kind === 'invalid') {
    return unprobed(server.name, 'invalid', placeOf(server.source), server.problems.filter(isError).map(correction));
  }
  if (server.kind === 'untrusted') {
    const place = placeOf(server.source);
    return server.declined
      ? unprobed(server.name, 'declined', place, [
          `You declined it. \`qm trust ${server.name}\` approves it after all.`,
        ])
      : unprobed(server.name, 'untrusted', place, [trustStep]);
  }
  const { spec } = server;
  if (spec.enabled) return undefined;
  return unprobed(spec.name, 'disabled', placeOf(spec.source), []);
}

/** The doctor's report on a server that the running hub does not use, although the files say so. */
export function lateRow(name: string): DoctorServer {
  return unprobed(name, 'unreachable', '', ['The running hub has not applied the configuration yet; try again.']);
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

const trustStep = 'Run `qm trust` to see what it would start, and approve it.';

/**
 * 1: something is broken or forbidden; 4: a login is missing; 6: not trusted yet; 0: every server works that the operator
 * neither disabled nor declined.
 */
export function doctorExitCode(
  rows: readonly Pick<DoctorServer, 'verdict'>[],
  problems: readonly Problem[] = [],
): number {
  const has = (...verdicts: DoctorServer['verdict'][]): boolean =>
    rows.some(({ verdict }) => verdicts.includes(verdict));
  if (has('unreachable', 'auth-failed', 'invalid') || problems.some(isError)) return 1;
  if (has('needs-auth')) return 4;
  return has('untrusted') ? 6 : 0;
}

/** The problems of these servers, and of the configuration as a whole. */
export function problemsFor({ problems }: Configuration, servers: ReadonlySet<string>): Problem[] {
  return problems.filter(({ server }) => server === undefined || servers.has(server));
}

/** Problems that no row shows: an invalid server has its errors in its row. */
export function problemsApart(
  problems: readonly Problem[],
  rows: ReadonlyMap<string, DoctorServer | undefined>,
): Problem[] {
  return problems.filter(
    (problem) => !isError(problem) || problem.server === undefined || rows.get(problem.server)?.verdict !== 'invalid',
  );
}

/** The problems that make the hub reject the whole configuration. */
export function fatalProblems({ problems }: Configuration): Problem[] {
  return problems.filter(({ fatal }) => fatal === true);
}

export function doctorNameOf(server: ConfiguredServer): string {
  return server.kind === 'ready' ? server.spec.name : server.name;
}

/** Without a lockfile, nothing says which definitions are meant. */
export function frozenProblems({ servers }: Configuration): Problem[] {
  const ready = [...servers.values()].filter((server) => server.kind === 'ready');
  if (ready.length === 0 || ready.some(({ spec }) => spec.lock !== undefined)) return [];
  const fix = 'Run `qm lock` and commit the file.';
  return [{ severity: 'error', file: lockfileName, message: `There is no ${lockfileName} to compare with.`, fix }];
}
