import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Clock, createSilentLogger, createSystemClock, LinkedList, systemRandom } from '../base/index.ts';
import type { Fleet, ServerLimits } from '../domain/index.ts';
import { draftFleet, type FleetDraft, type ServerDraft } from '../governance/policy/fleet.fixture.ts';
import { type CallLine, type Ledger, type LedgerFiles, openLedger, readCalls } from '../ledger/index.ts';
import { createTaskIds } from '../mcp/index.ts';
import { createRedactor } from '../vault/index.ts';
import { Call, type CallRequest, type CallResult } from './call.ts';
import type { CallMeter } from './call-meter.ts';
import { createRefusedCalls } from './refused-calls.ts';
import { createCallPath } from './run-call.ts';
import { handlesOf, type ScriptedServer, sourceOf } from './scripted-server.fixture.ts';
import type { TracedCalls } from './traced-calls.ts';
import type { ViewSource } from './view.ts';
import { createViews, type Views } from './views.ts';

/** The path of a call with a real ledger, in front of servers that do as they are told. */
export interface CallStage {
  readonly servers: ReadonlyMap<string, ScriptedServer>;
  /** The one named `files`. */
  readonly files: ScriptedServer;
  readonly source: ViewSource;
  readonly views: Views;
  readonly ledger: Ledger;
  readonly underWay: LinkedList<Call>;
  /** What the meter was told, in order. */
  readonly metered: readonly Metered[];
  stopping: boolean;
  call(name: string, more?: Partial<CallRequest>): Call;
  run(call: Call): Promise<CallResult>;
  /** Every line of the ledger so far, oldest first. */
  lines(): Promise<CallLine[]>;
  /** The journal as it is on disk at this moment. */
  journal(): string;
}

export interface Metered {
  readonly sent: boolean;
  readonly server: string | undefined;
  readonly outcome: string;
  readonly durationMs?: number;
}

const schema = { inputSchema: { type: 'object' } };
const offered = {
  files: [
    { name: 'read', annotations: { readOnlyHint: true }, ...schema },
    { name: 'write', ...schema },
    { name: 'secret', ...schema },
    { name: 'ask', ...schema },
  ],
};
const rules: Omit<FleetDraft, 'servers'> = {
  policy: {
    'files.secret': 'deny',
    'files.ask': 'require-approval',
    'files.resource:memo://secret': 'deny',
    'files.prompt:ask': 'require-approval',
  },
};

export async function openCallStage(
  faults: Partial<LedgerFiles> = {},
  limits: Partial<ServerLimits> = {},
  traced?: TracedCalls,
  { clock = createSystemClock(), files: draft = {} }: { readonly clock?: Clock; readonly files?: ServerDraft } = {},
): Promise<CallStage> {
  const workspace = await mkdtemp(join(tmpdir(), 'qm-calls-'));
  const ledger = await openLedger(
    { clock, logger: createSilentLogger(), random: systemRandom, redact: createRedactor([]), files: faults },
    { workspace, sync: 'os' },
  );
  onTestFinished(async () => {
    await ledger.close();
    await rm(workspace, { recursive: true });
  });
  const fleet = withLimits(draftFleet({ ...rules, servers: { files: draft } }), { concurrency: 8, ...limits });
  const servers = handlesOf(fleet, offered);
  const files = servers.get('files');
  if (files === undefined) throw new Error('the fleet has a server named files');
  const underWay = new LinkedList<Call>();
  const source = sourceOf(fleet, servers, clock);
  const views = createViews({ clock }, source);
  const metered: Metered[] = [];
  const meter: CallMeter = {
    ended: ({ server }, outcome, durationMs) => metered.push({ sent: true, server, outcome, durationMs }),
    cached: ({ server }) => metered.push({ sent: false, server, outcome: 'ok' }),
    refused: (entry, outcome) => metered.push({ sent: false, server: entry?.server, outcome }),
  };
  const run = createCallPath({
    clock,
    ledger,
    views,
    taskIds: createTaskIds({ key: systemRandom(32) }),
    refused: createRefusedCalls({ clock, ledger }),
    underWay,
    meter,
    traced,
    isStopping: () => stage.stopping,
  });
  const stage: CallStage = {
    servers,
    files,
    source,
    views,
    ledger,
    underWay,
    metered,
    stopping: false,
    call: (name, more) => new Call({ ...plainRequest, name, ...more }),
    run,
    async lines() {
      await ledger.flush();
      return readCalls(workspace);
    },
    journal() {
      const folder = join(workspace, '.quartermaster', 'journal');
      return readdirSync(folder)
        .map((file) => readFileSync(join(folder, file), 'utf8'))
        .join('');
    },
  };
  return stage;
}

const plainRequest: CallRequest = {
  kind: 'tool',
  caller: { agent: 'dev', chain: ['dev'], tokenId: undefined, run: 'run-1' },
  name: '',
  argumentsText: '{}',
  args: {},
  meta: '',
  channel: undefined,
};

function withLimits(fleet: Fleet, limits: Partial<ServerLimits>): Fleet {
  const servers = new Map(fleet.servers);
  for (const [name, server] of servers) {
    if (server.kind !== 'ready') continue;
    const spec = { ...server.spec, limits: { ...server.spec.limits, ...limits } };
    servers.set(name, { ...server, spec });
  }
  return { ...fleet, servers };
}
