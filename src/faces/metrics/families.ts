import type { ApprovalStatistics } from '../../approvals/index.ts';
import { type Outcome, type ServerLoad, type ServerStatus, serverStates } from '../../domain/index.ts';
import { approvalFamilies } from './approval-families.ts';
import { boundsMs, type Meter, type ServerNumbers } from './call-counters.ts';
import { type Family, type Labels, metricNumber, type Sample } from './exposition.ts';

/** The hub at one moment. */
export interface HubNumbers {
  readonly servers: readonly ServerStatus[];
  readonly load: readonly ServerLoad[];
  readonly callsInFlight: number;
  /** Undefined while no call was held. */
  readonly approvals: ApprovalStatistics | undefined;
  readonly clientSessions: number;
  readonly children: number;
  readonly ledgerGood: boolean;
  readonly residentBytes: number;
  readonly startedAtSeconds: number;
  readonly version: string;
  readonly node: string;
}

/**
 * Labels are servers, outcomes and states: a handful of series for each configured server. Agents and tools are not
 * among them, for agents times tools has no bound that an operator chose; the ledger has both.
 */
export function familiesOf(hub: HubNumbers, meter: Meter): Family[] {
  return [
    ...callFamilies(hub, meter),
    ...approvalFamilies(hub.approvals),
    ...serverFamilies(hub, meter),
    ...queueFamilies(hub),
    ...processFamilies(hub),
  ];
}

function callFamilies({ servers, callsInFlight }: HubNumbers, meter: Meter): Family[] {
  const usable = servers.filter(isUsable);
  return [
    {
      name: 'quartermaster_calls_total',
      type: 'counter',
      help: 'Calls that ended, by server and outcome. server="" counts calls to tools that no server has.',
      samples: [
        ...usable.flatMap(({ name }) => outcomeSamples(name, meter.of(name), ofServers)),
        ...outcomeSamples('', meter.unknownNames, ofNobody),
      ],
    },
    {
      name: 'quartermaster_cached_calls_total',
      type: 'counter',
      help: 'Calls with the outcome "ok" that were answered from the cache.',
      samples: usable.map(({ name }) => ({ labels: { server: name }, value: meter.of(name).cached })),
    },
    {
      name: 'quartermaster_call_duration_seconds',
      type: 'histogram',
      help: 'Time from arrival to end of calls that were sent to the server.',
      samples: usable.flatMap(({ name }) => histogramSamples({ server: name }, meter.of(name))),
    },
    gauge('quartermaster_calls_in_flight', 'Calls that have not ended.', callsInFlight),
  ];
}

function serverFamilies({ servers }: HubNumbers, meter: Meter): Family[] {
  const usable = servers.filter(isUsable);
  return [
    {
      name: 'quartermaster_server_up',
      type: 'gauge',
      help: '1 if the server is connected, or idle with known tools; 0 if it is unavailable. Absent while it is disabled, and until its tools are first requested.',
      samples: servers.flatMap((server) => upSamples(server)),
    },
    {
      name: 'quartermaster_server_state',
      type: 'gauge',
      help: '1 for the current state of the server, 0 for the others.',
      samples: servers.flatMap(({ name, state: now }) =>
        serverStates.map((state) => ({ labels: { server: name, state }, value: Number(state === now) })),
      ),
    },
    {
      name: 'quartermaster_server_reconnects_total',
      type: 'counter',
      help: 'Connections to the server after the first one.',
      samples: usable.map(({ name }) => ({
        labels: { server: name },
        value: Math.max(0, meter.of(name).connections - 1),
      })),
    },
    {
      name: 'quartermaster_breaker_open',
      type: 'gauge',
      help: '1 while the server is not retried after failed connects.',
      samples: usable.map(({ name, state }) => ({ labels: { server: name }, value: Number(state === 'open-circuit') })),
    },
  ];
}

function queueFamilies({ load }: HubNumbers): Family[] {
  const family = (name: string, help: string, value: (of: ServerLoad) => number): Family => ({
    name,
    type: 'gauge',
    help,
    samples: load.map((of) => ({ labels: { server: of.name }, value: value(of) })),
  });
  return [
    family('quartermaster_server_connections', 'Connections to the server.', (of) => of.connections),
    family('quartermaster_server_calls_in_flight', 'Calls of the server that have not ended.', (of) => of.inFlight),
    family('quartermaster_server_calls_waiting', 'Calls that wait for calls of another client.', (of) => of.waiting),
    family('quartermaster_server_queued_bytes', 'Bytes that the server has not read yet.', (of) => of.queuedBytes),
  ];
}

function processFamilies(hub: HubNumbers): Family[] {
  const build = { version: hub.version, node: hub.node };
  return [
    gauge('quartermaster_client_sessions', 'Open client sessions, over /mcp and /sse.', hub.clientSessions),
    gauge('quartermaster_children', 'Running processes of stdio servers, without the watchdog.', hub.children),
    gauge('quartermaster_ledger_good', '0 while calls cannot be recorded and are refused.', Number(hub.ledgerGood)),
    gauge('quartermaster_process_resident_memory_bytes', 'Resident memory of the hub.', hub.residentBytes),
    gauge('quartermaster_process_start_time_seconds', 'When the hub started, in Unix time.', hub.startedAtSeconds),
    gauge('quartermaster_build_info', 'Always 1; the labels are the versions.', 1, build),
  ];
}

function gauge(name: string, help: string, value: number, labels: Labels = {}): Family {
  return { name, type: 'gauge', help, samples: [{ labels, value }] };
}

/** What is disabled or cannot be read gets no calls. */
function isUsable({ state }: ServerStatus): boolean {
  return state !== 'disabled' && state !== 'invalid';
}

function upSamples({ name, state, tools }: ServerStatus): Sample[] {
  const isUndiscovered = state === 'idle' && tools === undefined;
  if (state === 'disabled' || isUndiscovered) return [];
  return [{ labels: { server: name }, value: Number(state === 'connected' || state === 'idle') }];
}

/** The usual ones are there from the start: the rate of a series misses what it had when it first appeared. */
function outcomeSamples(server: string, { outcomes }: ServerNumbers, usual: ReadonlySet<string>): Sample[] {
  return Object.entries(outcomes)
    .filter(([outcome, count]) => count > 0 || usual.has(outcome))
    .map(([outcome, value]) => ({ labels: { server, outcome }, value }));
}

const ofNobody: ReadonlySet<Outcome> = new Set(['unknown_tool']);
const ofServers: ReadonlySet<Outcome> = new Set([
  'ok',
  'tool_error',
  'upstream_error',
  'denied',
  'rate_limited',
  'overloaded',
  'timeout',
  'cancelled',
  'unavailable',
  'lost',
  'needs_login',
  'forbidden',
  'throttled',
  'invalid',
]);

function histogramSamples(labels: Labels, { buckets, totalMs }: ServerNumbers): Sample[] {
  let count = 0;
  const cumulative = buckets.map((calls, index): Sample => {
    count += calls;
    const bound = boundsMs[index];
    const le = bound === undefined ? '+Inf' : metricNumber(bound / 1000);
    return { suffix: '_bucket', labels: { ...labels, le }, value: count };
  });
  return [...cumulative, { suffix: '_sum', labels, value: totalMs / 1000 }, { suffix: '_count', labels, value: count }];
}
