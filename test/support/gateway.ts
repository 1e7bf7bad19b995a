import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createBuiltins } from '../../src/apps/builtin/index.ts';
import { type Clock, createSystemClock, type Logger, systemRandom } from '../../src/base/index.ts';
import { createApi } from '../../src/faces/api/index.ts';
import { createApprovalPage } from '../../src/faces/approval-page/index.ts';
import { type Gateway, type GatewayOptions, openGateway } from '../../src/faces/gateway/index.ts';
import { createMeter, createMetrics } from '../../src/faces/metrics/index.ts';
import { createTokenBook, type TokenBook, type TokenRequest } from '../../src/governance/index.ts';
import { createHub, type Hub } from '../../src/hub/index.ts';
import { type CallLine, readCalls } from '../../src/ledger/index.ts';
import { createFileTokenStore } from '../../src/storage/index.ts';
import { fixturePath } from './fixture-servers.ts';
import { layoutOf, ledgerOf, stateEnv } from './state-home.ts';
import { eventually, within } from './within.ts';

/** `quartermaster.yaml` as an object. Without servers, it has one echo server over stdio. */
export interface Config {
  readonly servers?: Readonly<Record<string, object>>;
  readonly [section: string]: unknown;
}

export interface GatewaySettings {
  readonly env?: Readonly<Record<string, string>>;
  /** Skips discovery, as in the very first start. */
  readonly cold?: boolean;
  readonly timeouts?: GatewayOptions['timeouts'];
  readonly limits?: GatewayOptions['limits'];
  readonly byteLimits?: GatewayOptions['byteLimits'];
  readonly clock?: Clock;
  /** The token for the operator's endpoints. Without it, they are closed. */
  readonly adminToken?: string;
}

/** A hub in this process, behind its HTTP port. */
export interface RunningGateway {
  /** The URL of the MCP endpoint. */
  readonly url: string;
  readonly origin: string;
  readonly workspace: string;
  readonly hub: Hub;
  readonly tokens: TokenBook;
  readonly gateway: Gateway;
  /** Events at level warn and above. */
  readonly log: readonly LoggedEvent[];
  token(agent?: string, order?: Omit<TokenRequest, 'agent'>): Promise<string>;
  /** Writes another configuration. It takes effect on reload. */
  configure(config: Config): Promise<void>;
  /** Waits for that many calls on the ledger and returns them. */
  calls(count: number): Promise<CallLine[]>;
  /** Ends everything that it started and removes the workspace. Idempotent. */
  stop(): Promise<void>;
}

export interface LoggedEvent {
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export const echoServer: object = { command: process.execPath, args: [fixturePath('echo-stdio.mjs')] };

/** For one test. Stops when the test ends. */
export async function gatewayForTest(config: Config = {}, settings: GatewaySettings = {}): Promise<RunningGateway> {
  const running = await startGateway(config, settings);
  onTestFinished(() => running.stop());
  return running;
}

/** For several tests. The caller must stop it. */
export async function startGateway(config: Config = {}, settings: GatewaySettings = {}): Promise<RunningGateway> {
  const workspace = await createWorkspace(config);
  const undo: (() => Promise<unknown>)[] = [() => rm(workspace, { recursive: true, force: true, maxRetries: 3 })];
  try {
    return await assemble(workspace, settings, undo);
  } catch (error) {
    await undoAll(undo);
    throw error;
  }
}

/** A folder with a configuration. The caller must remove it. */
export async function createWorkspace(config: Config = {}): Promise<string> {
  const workspace = await mkdtemp(join(tmpdir(), 'qm-gateway-'));
  await configure(workspace, config);
  return workspace;
}

/** Writes JSON, which is valid YAML. */
async function configure(workspace: string, config: Config): Promise<void> {
  const text = JSON.stringify({ servers: { echo: echoServer }, ...config }, undefined, 2);
  await writeFile(join(workspace, 'quartermaster.yaml'), text);
}

type Undo = (() => Promise<unknown>)[];

async function assemble(workspace: string, settings: GatewaySettings, undo: Undo): Promise<RunningGateway> {
  const log: LoggedEvent[] = [];
  const common = { clock: settings.clock ?? createSystemClock(), random: systemRandom, logger: collectingLogger(log) };
  const env = { PATH: process.env.PATH, ...settings.env };
  const meter = createMeter();
  let gateway: Gateway | undefined;
  const hub = await createHub(
    { ...common, env, meter, builtins: createBuiltins(), ownUrl: () => gateway?.url },
    { workspace, stateHome: stateEnv.QM_STATE_DIR, watch: false, trust: 'all' },
  );
  // At the same time, as in a real hub: calls in flight end while their responses are sent.
  undo.push(() => Promise.all([hub.stop(), gateway?.close()]));
  const store = createFileTokenStore(layoutOf(workspace), common);
  const tokens = await createTokenBook({ ...common, store });
  const { timeouts, limits, byteLimits, adminToken } = settings;
  const operator = {
    hub,
    isAdmin: (token: string) => token === adminToken,
    clientSessions: () => gateway?.clientSessions ?? 0,
    acceptDefinitions: () => Promise.reject(new Error('only a hub of `qm serve` writes the lockfile')),
  };
  gateway = await openGateway(
    {
      ...common,
      hub,
      tokens,
      api: createApi({ ...common, ...operator, tokens }),
      metrics: createMetrics({ ...common, ...operator, meter }),
      approvalPage: createApprovalPage({ ...common, hub }),
    },
    {
      host: '127.0.0.1',
      port: 0,
      ...(timeouts === undefined ? {} : { timeouts }),
      ...(limits === undefined ? {} : { limits }),
      ...(byteLimits === undefined ? {} : { byteLimits }),
    },
  );
  if (settings.cold !== true) await hub.discover();
  let stopped: Promise<void> | undefined;
  return {
    url: `${gateway.url}/mcp`,
    origin: gateway.url,
    workspace,
    hub,
    tokens,
    gateway,
    log,
    token: async (agent = 'tester', order = {}) => (await tokens.issue({ agent, ...order })).token,
    configure: (config) => configure(workspace, config),
    calls: (count) =>
      eventually(async () => {
        const calls = await readCalls(ledgerOf(workspace));
        return calls.length >= count ? calls : undefined;
      }, `${count} calls on the ledger`),
    stop() {
      stopped ??= within(undoAll(undo), 'the gateway to stop');
      return stopped;
    },
  };
}

async function undoAll(undo: Undo): Promise<void> {
  for (const step of undo.toReversed()) await step();
}

function collectingLogger(log: LoggedEvent[]): Logger {
  const note = (event: string, fields: LoggedEvent['fields'] = {}): void => {
    log.push({ event, fields });
  };
  return { debug() {}, info() {}, warn: note, error: note };
}
