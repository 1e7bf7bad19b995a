import { type Clock, sleep } from '../../base/index.ts';
import type { Catalog, ServerSpec } from '../../domain/index.ts';
import {
  type Connection,
  type Inspection,
  inspectionOf,
  type Probe,
  type ProbeAttempt,
  type UpstreamHandles,
} from '../../upstream/index.ts';
import type { LookOptions } from './diagnosis.ts';

/** The servers that the hub uses, by name. */
export type RunningServers = () => ReadonlyMap<string, UpstreamHandles>;

interface RunningDeps {
  readonly clock: Clock;
  readonly running: RunningServers;
  readonly redact: (text: string) => string;
}

/** Lists the tools of a program that runs already. Undefined if it does not run or does not answer. */
export async function probeRunning(deps: RunningDeps, spec: ServerSpec, look: LookOptions): Promise<Probe | undefined> {
  const found = await askRunning(deps, spec, look);
  if (found === undefined) return undefined;
  const { attempt, catalog } = found;
  const { durationMs } = attempt;
  return { server: spec.name, verdict: 'reachable', attempts: [attempt], catalog, remembered: undefined, durationMs };
}

export async function inspectRunning(
  deps: RunningDeps,
  spec: ServerSpec,
  look: LookOptions,
): Promise<Inspection | undefined> {
  const found = await askRunning(deps, spec, look);
  return found === undefined ? undefined : inspectionOf(found.connection, found.catalog, deps.redact);
}

interface RunningServer {
  readonly connection: Connection;
  readonly catalog: Catalog;
  readonly attempt: ProbeAttempt;
}

async function askRunning(
  { clock, running }: RunningDeps,
  spec: ServerSpec,
  { timeoutMs, signal, onTried }: LookOptions,
): Promise<RunningServer | undefined> {
  const handles = running().get(spec.name);
  if (spec.transport.type !== 'stdio' || handles?.control.spec.connectionKey !== spec.connectionKey) return undefined;
  const { control, dispatch } = handles;
  const { state } = control.status();
  if (state !== 'connected' && state !== 'connecting') return undefined;
  const startedAt = clock.monotonic();
  const enough = new AbortController();
  await Promise.race([control.refresh('call'), sleep(clock, timeoutMs, AbortSignal.any([signal, enough.signal]))]);
  enough.abort();
  const { connection } = dispatch;
  const catalog = control.definitions?.listed;
  // What went wrong is found out over a new connection, step by step.
  const isGood = connection?.transport === 'stdio' && control.failure === undefined && !signal.aborted;
  if (connection === undefined || catalog === undefined || !isGood) return undefined;
  const attempt: ProbeAttempt = {
    transport: 'stdio',
    implicit: false,
    verdict: 'reachable',
    httpStatus: undefined,
    protocolVersion: connection.protocolVersion,
    sessionId: connection.sessionId,
    durationMs: clock.monotonic() - startedAt,
    error: undefined,
  };
  onTried?.(attempt);
  return { connection, catalog, attempt };
}
