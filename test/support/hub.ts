import { appendFile, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { createBuiltins } from '../../src/apps/builtin/index.ts';
import { isJsonObject, type Logger, systemRandom } from '../../src/base/index.ts';
import type { Call, CallResult } from '../../src/calls/index.ts';
import type { ServerStatus } from '../../src/domain/index.ts';
import { createHub, type Hub } from '../../src/hub/index.ts';
import { type CallLine, readCalls } from '../../src/ledger/index.ts';
import { pidsOfHub } from '../../src/upstream/children/fixtures/processes.mjs';
import { fixturePath, type HttpFixture, startHttpFixture } from './fixture-servers.ts';
import { createMovingClock, type MovingClock } from './moving-clock.ts';
import { ledgerOf, removeState, stateEnv } from './state-home.ts';
import { settledView } from './views.ts';
import { eventually, within } from './within.ts';

/** `quartermaster.yaml` as an object. */
export interface Config {
  readonly servers: Readonly<Record<string, object>>;
  readonly [section: string]: unknown;
}

/** How long the first list of a test waits for undiscovered servers. A hung server must not delay each test more. */
const firstListMs = 2000;

/** A workspace with a hub in this process and fixture servers. Everything that was started ends with the test. */
export interface Stage {
  readonly workspace: string;
  readonly clock: MovingClock;
  readonly hub: Hub;
  /** Every event of the hub's log, as JSON lines. */
  readonly log: readonly string[];
  fixture(file: string, args?: readonly string[], env?: Readonly<Record<string, string>>): Promise<HttpFixture>;
  /** Writes the configuration and starts a hub. There is none before that. */
  start(config: Config | string, options?: StartOptions): Promise<Hub>;
  /** Starts a hub on the files that are there. */
  open(options?: StartOptions): Promise<Hub>;
  configure(config: Config | string): Promise<void>;
  /** Stops the hub. Another one may be started in the same workspace. */
  stop(): Promise<void>;
  /** The tool names that an agent sees, after the short wait of a first list. */
  names(agent?: string): Promise<string[]>;
  begin(
    tool: string,
    args?: object,
    options?: CallOptions,
  ): { readonly call: Call; readonly result: Promise<CallResult> };
  call(tool: string, args?: object, options?: CallOptions): Promise<CallResult>;
  /** The text of the tool's result. Anything else fails the test. */
  say(tool: string, args?: object, options?: CallOptions): Promise<string>;
  /** The processes that the hub started, without the watchdog. */
  children(): number[];
  status(server: string): ServerStatus;
  until(server: string, state: ServerStatus['state']): Promise<ServerStatus>;
  /** Advances the clock until the work is done. */
  hurry<T>(work: Promise<T>): Promise<T>;
  /** The calls on the ledger so far. */
  ledger(): Promise<CallLine[]>;
  /** The JSON lines of a file in the workspace that a fixture writes. */
  lines(file: string): Promise<Record<string, unknown>[]>;
  path(file: string): string;
}

export interface CallOptions {
  readonly agent?: string;
  readonly argumentsText?: string;
  readonly meta?: string;
  /** A held call ends with an error after that time. */
  readonly approvalWaitMs?: number;
  readonly onProgress?: (params: Readonly<Record<string, unknown>>) => void;
}

interface StartOptions {
  readonly watch?: boolean;
  readonly discover?: boolean;
  readonly trust?: 'stored' | 'all';
  readonly env?: Env;
}

type Env = Readonly<Record<string, string | undefined>>;

/** The configuration of a stdio server in `test/servers`. */
export function stdioServer(file: string, args: readonly string[] = [], more: object = {}): object {
  return { command: process.execPath, args: [fixturePath(file), ...args], ...more };
}

export async function openStage(): Promise<Stage> {
  const workspace = await realpath(await mkdtemp(join(tmpdir(), 'qm-hub-')));
  const clock = createMovingClock();
  const before = handles();
  const fixtures: HttpFixture[] = [];
  const log: string[] = [];
  let hub: Hub | undefined;

  onTestFinished(async () => {
    await stop();
    await Promise.all(fixtures.map((fixture) => fixture.stop()));
    await removeState(workspace);
    await rm(workspace, { recursive: true, force: true, maxRetries: 3 });
    await eventually(() => (extra(before, handles()).length === 0 ? true : undefined), 'handles to close').catch(() => {
      expect(extra(before, handles()), 'handles left open').toEqual([]);
    });
  }, 180_000);

  async function stop(): Promise<void> {
    const stopping = hub;
    hub = undefined;
    if (stopping === undefined) return;
    await within(stopping.stop(), 'the hub to stop');
    expect(pidsOfHub(process.pid), 'child processes left').toEqual([]);
    await eventually(() => (clock.waiting === 0 ? true : undefined), 'the timers of the hub to end');
  }

  function running(): Hub {
    if (hub === undefined) throw new Error('no hub was started on this stage');
    return hub;
  }

  const configure = async (config: Config | string): Promise<void> => {
    const text = typeof config === 'string' ? config : JSON.stringify(config, undefined, 2);
    await writeFile(join(workspace, 'quartermaster.yaml'), text);
  };

  async function open(options: StartOptions = {}): Promise<Hub> {
    const env = { PATH: process.env.PATH, ...options.env };
    const deps = { clock, logger: collectingLogger(log), random: systemRandom, env, builtins: createBuiltins() };
    hub = await createHub(deps, {
      workspace,
      stateHome: stateEnv.QM_STATE_DIR,
      watch: options.watch ?? false,
      discover: options.discover,
      trust: options.trust ?? 'all',
    });
    return hub;
  }

  const begin: Stage['begin'] = (tool, args = {}, options = {}) => {
    const argumentsText = options.argumentsText ?? JSON.stringify(args);
    return running().call({
      kind: 'tool',
      caller: running().callerFor({ agent: options.agent ?? 'tester' }),
      name: tool,
      argumentsText,
      args: JSON.parse(argumentsText),
      meta: options.meta ?? '',
      approvalWait: options.approvalWaitMs === undefined ? undefined : { ms: options.approvalWaitMs },
      channel: options.onProgress && { progress: options.onProgress },
    });
  };

  const call: Stage['call'] = (tool, args, options) => begin(tool, args, options).result;

  const status = (server: string): ServerStatus => {
    const found = running()
      .status()
      .find(({ name }) => name === server);
    if (found === undefined) throw new Error(`the hub does not know server ${server}`);
    return found;
  };

  return {
    workspace,
    clock,
    log,
    get hub() {
      return running();
    },
    async fixture(file, args, env) {
      const fixture = await startHttpFixture(file, args, env);
      fixtures.push(fixture);
      return fixture;
    },
    async start(config, options) {
      await stop();
      await configure(config);
      return open(options);
    },
    open,
    configure,
    stop,
    async names(agent = 'tester') {
      return [...(await settledView(running(), agent, firstListMs)).entries.keys()];
    },
    begin,
    call,
    say: async (tool, args, options) => textOf(await call(tool, args, options)),
    children: () => pidsOfHub(process.pid).map(Number),
    status,
    until: (server, state) =>
      eventually(() => (status(server).state === state ? status(server) : undefined), `${server} to be ${state}`),
    async hurry(work) {
      let done = false;
      const settled = work.finally(() => {
        done = true;
      });
      void eventually(() => {
        if (!done) clock.advance(2000);
        return done ? true : undefined;
      }, 'work in a hurry').catch(() => {});
      return within(settled, 'work in a hurry');
    },
    async ledger() {
      await running().ledger.flush();
      return readCalls(ledgerOf(workspace));
    },
    async lines(file) {
      const path = join(workspace, file);
      await appendFile(path, '');
      const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
      return lines.map((line) => JSON.parse(line) as Record<string, unknown>); // the fixtures write objects
    },
    path: (file) => join(workspace, file),
  };
}

/** The text of a successful result. */
export function textOf(result: CallResult): string {
  if (result.kind !== 'result') throw new Error(`no result but ${describeResult(result)}`);
  const { content, isError } = result.result.value;
  const first: unknown = Array.isArray(content) ? content[0] : undefined;
  if (isError === true || !isJsonObject(first) || typeof first.text !== 'string') {
    throw new Error(`no text in ${result.result.text.slice(0, 200)}`);
  }
  return first.text;
}

/** The code of the hub's own error. */
export function codeOf(result: CallResult): string {
  return result.kind === 'failed' ? result.error.code : describeResult(result);
}

function describeResult(result: CallResult): string {
  if (result.kind === 'failed') return `${result.error.code}: ${result.error.message}`;
  return result.kind === 'error' ? `error ${result.code}: ${result.message}` : result.result.text.slice(0, 200);
}

const countedHandles = ['TCPSocketWrap', 'TCPServerWrap', 'PipeWrap', 'ProcessWrap', 'FSEventWrap', 'StatWatcher'];

function handles(): string[] {
  return process.getActiveResourcesInfo().filter((name) => countedHandles.includes(name));
}

function extra(before: readonly string[], now: readonly string[]): string[] {
  const left = [...now];
  for (const name of before) {
    const at = left.indexOf(name);
    if (at >= 0) left.splice(at, 1);
  }
  return left;
}

function collectingLogger(log: string[]): Logger {
  const note =
    (level: string) =>
    (event: string, fields: object = {}): void => {
      log.push(JSON.stringify({ level, event, ...fields }));
    };
  return { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') };
}
