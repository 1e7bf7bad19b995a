import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Clock, createSilentLogger, createSystemClock, LinkedList, systemRandom } from '../base/index.ts';
import type { Configuration, ServerLimits } from '../domain/index.ts';
import {
  type ConfiguredServerDraft,
  draftConfiguration,
  type PolicyDraft,
} from '../governance/policy/configuration.fixture.ts';
import { type CallLine, type Ledger, type LedgerFiles, openLedger, readCalls } from '../ledger/index.ts';
import { placesIn } from '../ledger/ledger-places.fixture.ts';
import { createTaskIds } from '../mcp/index.ts';
import { createRedactor } from '../vault/index.ts';
import { Call, type CallRequest, type CallResult } from './call.ts';
import type { CallMeter } from './observing/call-meter.ts';
import type { TracedCalls } from './observing/traced-calls.ts';
import { createRefusedCalls } from './refusal-records.ts';
import { createCallPath } from './run-call.ts';
import { handlesOf, type ScriptedServer, sourceOf } from './scripted-server.fixture.ts';
import type { ViewSource } from './views/view.ts';
import { createViews, type Views } from './views/views.ts';

/** The path of a call with a real ledger and scripted servers. */
export interface CallStage {
  readonly workspace: string;
  readonly servers: ReadonlyMap<string, ScriptedServer>;
  /** The one named `files`. */
  readonly files: ScriptedServer;
  readonly source: ViewSource;
  readonly views: Views;
  readonly ledger: Ledger;
  readonly inFlight: LinkedList<Call>;
  /** The meter's events in order. */
  readonly metered: readonly Metered[];
  stopping: boolean;
  call(name: string, more?: Partial<CallRequest>): Call;
  run(call: Call): Promise<CallResult>;
  /** Every line of the ledger so far, oldest first. */
  lines(): Promise<CallLine[]>;
  /** The current journal on disk. */
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
const rules: { readonly policy: PolicyDraft } = {
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
  {
    clock = createSystemClock(),
    files: draft = {},
    policy = rules.policy,
  }: { readonly clock?: Clock; readonly files?: ConfiguredServerDraft; readonly policy?: PolicyDraft | undefined } = {},
): Promise<CallStage> {
  const workspace = await mkdtemp(join(tmpdir(), 'qm-calls-'));
  const ledger = await openLedger(
    { clock, logger: createSilentLogger(), random: systemRandom, redact: createRedactor([]), files: faults },
    { ...placesIn(workspace), sync: 'os' },
  );
  onTestFinished(async () => {
    await ledger.close();
    await rm(workspace, { recursive: true });
  });
  const configuration = withLimits(draftConfiguration({ policy, servers: { files: draft } }), {
    concurrency: 8,
    ...limits,
  });
  const servers = handlesOf(configuration, offered);
  const files = servers.get('files');
  if (files === undefined) throw new Error('the configuration has a server named files');
  const inFlight = new LinkedList<Call>();
  const source = sourceOf(configuration, servers, clock);
  const views = createViews({ clock }, source);
  const metered: Metered[] = [];
  const meter: CallMeter = {
    ended: ({ server }, outcome, durationMs) => metered.push({ sent: true, server, outcome, durationMs }),
    cached: ({ server }) => metered.push({ sent: false, server, outcome: 'ok' }),
    refused: (entry, outcome) => metered.push({ sent: false, server: entry?.server, outcome }),
  };
  const run = createCallPath({
    clock,
    random: systemRandom,
    ledger,
    views,
    taskIds: createTaskIds({ key: systemRandom(32) }),
    refused: createRefusedCalls({ clock, ledger }),
    inFlight,
    meter,
    traced,
    filterRoots: async (_server, roots) => roots.filter((root) => root !== 'dropped'),
    isStopping: () => stage.stopping,
  });
  const stage: CallStage = {
    workspace,
    servers,
    files,
    source,
    views,
    ledger,
    inFlight,
    metered,
    stopping: false,
    call: (name, more) => new Call({ ...plainRequest, name, ...more }),
    run,
    async lines() {
      await ledger.flush();
      return readCalls(placesIn(workspace));
    },
    journal() {
      const folder = join(workspace, 'state', 'journal');
      return readdirSync(folder)
        .map((file) => readFileSync(join(folder, file), 'utf8'))
        .join('');
    },
  };
  return stage;
}

export const plainRequest: CallRequest = {
  kind: 'tool',
  caller: { agent: 'dev', project: 'workspace', chain: ['dev'], tokenId: undefined, run: 'run-1' },
  name: '',
  argumentsText: '{}',
  args: {},
  meta: '',
  channel: undefined,
};

function withLimits(configuration: Configuration, limits: Partial<ServerLimits>): Configuration {
  const servers = new Map(configuration.servers);
  for (const [name, server] of servers) {
    if (server.kind !== 'ready') continue;
    const spec = { ...server.spec, limits: { ...server.spec.limits, ...limits } };
    servers.set(name, { ...server, spec });
  }
  return { ...configuration, servers };
}

export function textIn(result: CallResult): string {
  if (result.kind !== 'result') throw new Error(`no result but ${result.kind}`);
  return result.result.text;
}

export function valueIn(result: CallResult): Readonly<Record<string, unknown>> {
  if (result.kind !== 'result') throw new Error(`no result but ${result.kind}`);
  return result.result.value;
}
