import { ByteBudget, type Clock, defaultPath, type Logger, type RandomBytes, toHubError } from '../../base/index.ts';
import { maxLineBytes } from '../transports/message-limit.ts';
import { type Child, createChild, type OwnedChild } from './child.ts';
import { type ChildEnvironment, createChildEnvironments, newCookieOwner } from './child-environment.ts';
import type { BuiltinOrder, Builtins, ChildStreams } from './child-streams.ts';
import { bootMark, type CookieOwner } from './cookie.ts';
import { findCommand } from './find-command.ts';
import { gateLine, planLaunch } from './gate.ts';
import { createSharedList, type ListProcesses } from './process-table.ts';
import { type ChildSpec, spawnGroup } from './spawn-group.ts';
import { builtinNotOpened, hubStopping, noBuiltins, noStdioOnWindows, unwatched } from './start-failures.ts';
import { createStderrLogs, type StderrLogs } from './stderr-logs.ts';
import { createSweeper, endMarked, endStale, type Sweeper } from './sweep.ts';
import { createWatchdog, type Watchdog } from './watchdog.ts';

export interface ChildrenDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: RandomBytes;
}

export interface ChildrenOptions {
  /** The safe base environment. A child gets this, its configured variables, and the cookie. */
  readonly baseEnv: Readonly<Record<string, string>>;
  /** How long a child may take after EOF, and again after SIGTERM. */
  readonly graceMs?: number;
  readonly stderrTailBytes?: number;
  readonly lineBytes?: number;
  readonly builtins?: Builtins | undefined;
}

export interface HostedSpec extends BuiltinOrder {
  readonly server: string;
}

/** The stdio servers of one hub. None of them outlives the hub, however it ends. */
export interface Children {
  /** Rejects with UPSTREAM_UNAVAILABLE if the command cannot be started. */
  start(spec: ChildSpec): Promise<Child>;
  /** Opens a built-in server inside this process. Processes that it starts are swept like those of a child. */
  host(spec: HostedSpec): Promise<ChildStreams>;
  /** Ends processes that dead hubs left behind (Linux) and returns their number. */
  sweepStale(): Promise<number>;
  /** Stops all children, then the watchdog. */
  close(): Promise<void>;
  readonly watchdogPid: number | undefined;
  /** How many processes have not ended. */
  readonly running: number;
  /** The long lines that children have begun and not ended, of all of them together. */
  readonly lines: ByteBudget;
  /** What the processes wrote to stderr. */
  readonly stderr: StderrLogs;
}

export function createChildren(deps: ChildrenDeps, options: ChildrenOptions): Children {
  return new HubChildren(deps, options);
}

class HubChildren implements Children {
  readonly #deps: ChildrenDeps;
  readonly #options: ChildrenOptions;
  readonly #owner: CookieOwner;
  readonly #environmentFor: (configured: Readonly<Record<string, string>>) => ChildEnvironment;
  readonly #watchdog: Watchdog;
  readonly #shared: { readonly list: ListProcesses; readonly sweeper: Sweeper };
  readonly #live = new Set<OwnedChild>();
  readonly #hosted = new Set<ChildStreams>();
  readonly lines: ByteBudget;
  readonly stderr: StderrLogs;
  #closing: Promise<void> | undefined;

  constructor(deps: ChildrenDeps, options: ChildrenOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#owner = newCookieOwner(deps.random);
    this.lines = new ByteBudget(options.lineBytes ?? maxLineBytes);
    this.stderr = createStderrLogs(deps);
    this.#environmentFor = createChildEnvironments(this.#owner, options.baseEnv);
    const searchPath = options.baseEnv.PATH ?? defaultPath;
    this.#watchdog = createWatchdog(deps, { mark: bootMark(this.#owner), searchPath });
    this.#shared = { list: createSharedList(), sweeper: createSweeper(deps.clock) };
  }

  get watchdogPid(): number | undefined {
    return this.#watchdog.pid;
  }

  get running(): number {
    return this.#live.size;
  }

  async start(spec: ChildSpec): Promise<Child> {
    if (process.platform === 'win32') throw noStdioOnWindows(spec.server);
    this.#refuseWhenClosing(spec.server);
    const { cookie, env } = this.#environmentFor(spec.env);
    const command = await findCommand(spec, env.PATH ?? defaultPath);
    this.#refuseWhenClosing(spec.server);
    // The watchdog starts first: between a child's fork and its registration, only the watchdog's sweep can find it.
    this.#watchdog.start();
    const launch = planLaunch(command, spec.args, spec.env);
    const leader = await spawnGroup(spec, launch, env);
    const { graceMs = 2_000, stderrTailBytes = 8_192 } = this.#options;
    const options = { server: spec.server, cookie, graceMs, stderrTailBytes };
    const { clock, logger } = this.#deps;
    // The caller checked that the process started; only then is there a pid.
    const stderr = this.stderr.open(spec.server, leader.pid as number);
    const child = createChild({ clock, logger, leader, stderr, ...this.#shared }, options);
    this.#live.add(child);
    void child.ended.then(() => {
      this.#live.delete(child);
      this.#watchdog.release(child.pid);
    });
    await this.#admit(spec, child);
    if (launch.gated) child.stdin.write(gateLine);
    return child;
  }

  async host({ server, ...order }: HostedSpec): Promise<ChildStreams> {
    this.#refuseWhenClosing(server);
    const { builtins } = this.#options;
    if (builtins === undefined) throw noBuiltins(server);
    const { env } = this.#environmentFor(order.env);
    this.#watchdog.start();
    const { clock, logger } = this.#deps;
    const streams = await builtins.open({ ...order, env }, { clock, logger }).catch((error: unknown) => {
      throw builtinNotOpened(server, toHubError(error));
    });
    this.#hosted.add(streams);
    void streams.exited.then(() => this.#hosted.delete(streams));
    if (this.#closing !== undefined) await streams.stop();
    this.#refuseWhenClosing(server);
    return streams;
  }

  async sweepStale(): Promise<number> {
    const { ended } = await endStale(this.#deps.clock, this.#owner);
    if (ended > 0) this.#deps.logger.warn('child.orphans-ended', { ended });
    return ended;
  }

  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    const { clock, logger } = this.#deps;
    const { boot, start } = this.#owner;
    await Promise.all([...this.#live, ...this.#hosted].map((child) => child.stop()));
    const left = await endMarked(clock, (cookie) => cookie.startsWith(`${boot}:`), { since: start });
    if (!left.clean) logger.warn('child.processes-left', { ended: left.ended });
    await this.#watchdog.close();
  }

  async #admit({ server, beforeRun }: ChildSpec, child: OwnedChild): Promise<void> {
    try {
      const isWatched = await this.#watchdog.register(child.pid);
      this.#refuseWhenClosing(server);
      if (!isWatched) throw unwatched(server);
      await beforeRun?.();
    } catch (error) {
      child.kill();
      await child.stop();
      throw error;
    }
  }

  #refuseWhenClosing(server: string): void {
    if (this.#closing !== undefined) throw hubStopping(server);
  }
}
