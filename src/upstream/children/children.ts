import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import {
  type Clock,
  cookieName,
  createId,
  errnoOf,
  HubError,
  type Logger,
  type RandomBytes,
  thisProcess,
  toHubError,
} from '../../base/index.ts';
import { type Child, createChild, type OwnedChild } from './child.ts';
import { bootMark, type CookieOwner, formatCookie } from './cookie.ts';
import { defaultPath, findCommand } from './find-command.ts';
import { gateLine, planLaunch } from './gate.ts';
import type { BuiltinOrder, Builtins, Peer } from './peer.ts';
import { createSharedList, readOwnNamespace } from './process-table.ts';
import { createSweeper, endMarked, endStale } from './sweep.ts';
import { createWatchdog } from './watchdog.ts';

export interface ChildSpec {
  readonly server: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export interface ChildrenOptions {
  /** The safe base environment; a child gets this, what is configured for it, and the cookie. */
  readonly baseEnv: Readonly<Record<string, string>>;
  /** How long a child may take after EOF, and again after SIGTERM. */
  readonly graceMs?: number;
  readonly stderrTailBytes?: number;
  readonly builtins?: Builtins | undefined;
}

export interface HostedSpec extends BuiltinOrder {
  readonly server: string;
}

/** The servers that one hub runs. None of them outlives it, whichever way it dies. */
export interface Children {
  /** Rejects with UPSTREAM_UNAVAILABLE where the command cannot be started. */
  start(spec: ChildSpec): Promise<Child>;
  /** A server that comes with the product, inside this process. Processes that it starts are swept as a child's are. */
  host(spec: HostedSpec): Promise<Peer>;
  /** Ends what hubs that are dead left behind (Linux); returns how many processes. */
  sweepStale(): Promise<number>;
  /** Stops all children, then the watchdog. */
  close(): Promise<void>;
  readonly watchdogPid: number | undefined;
  /** How many have not ended. */
  readonly running: number;
}

export function createChildren(
  deps: { readonly clock: Clock; readonly logger: Logger; readonly random: RandomBytes },
  options: ChildrenOptions,
): Children {
  const { clock, logger } = deps;
  const { baseEnv, graceMs = 2_000, stderrTailBytes = 8_192 } = options;
  const owner: CookieOwner = {
    boot: createId(deps.random, 16),
    pid: process.pid,
    start: thisProcess().start ?? 0,
    namespace: readOwnNamespace(),
  };
  const searchPath = baseEnv.PATH ?? defaultPath;
  const watchdog = createWatchdog({ clock, logger }, { mark: bootMark(owner), searchPath });
  const shared = { list: createSharedList(), sweeper: createSweeper(clock) };
  const live = new Set<OwnedChild>();
  const hosted = new Set<Peer>();
  let started = 0;
  let closing: Promise<void> | undefined;

  async function start(spec: ChildSpec): Promise<Child> {
    refuseWindows(spec);
    refuseWhenClosing(spec);
    const { cookie, env } = environmentFor(spec);
    const command = await findCommand(spec, env.PATH ?? defaultPath);
    refuseWhenClosing(spec);
    // Before the child: between its fork and its registration only the watchdog's sweep can find it.
    watchdog.start();
    const launch = planLaunch(command, spec.args, spec.env);
    const leader = spawnGroup(spec, launch.file, launch.args, env);
    if (leader.pid === undefined) throw unavailable(spec, await failureOf(leader));
    const options = { server: spec.server, cookie, graceMs, stderrTailBytes };
    const child = createChild({ clock, logger, leader, ...shared }, options);
    live.add(child);
    void child.ended.then(() => {
      live.delete(child);
      watchdog.release(child.pid);
    });
    await register(spec, child);
    if (launch.gated) child.stdin.write(gateLine);
    return child;
  }

  async function host({ server, ...order }: HostedSpec): Promise<Peer> {
    refuseWhenClosing({ server });
    if (options.builtins === undefined) throw noBuiltins(server);
    const { env } = environmentFor(order);
    watchdog.start();
    const peer = await options.builtins.open({ ...order, env }, { clock, logger }).catch((error: unknown) => {
      throw notOpened(server, toHubError(error));
    });
    hosted.add(peer);
    void peer.exited.then(() => hosted.delete(peer));
    if (closing !== undefined) await peer.stop();
    refuseWhenClosing({ server });
    return peer;
  }

  function environmentFor({ env }: Pick<ChildSpec, 'env'>): { cookie: string; env: Record<string, string> } {
    started += 1;
    const cookie = formatCookie(owner, started);
    return { cookie, env: { ...baseEnv, ...env, [cookieName]: cookie } };
  }

  async function register(spec: ChildSpec, child: OwnedChild): Promise<void> {
    try {
      const watched = await watchdog.register(child.pid);
      refuseWhenClosing(spec);
      if (!watched) throw unwatched(spec);
    } catch (error) {
      child.kill();
      await child.stop();
      throw error;
    }
  }

  function refuseWhenClosing(spec: Pick<ChildSpec, 'server'>): void {
    if (closing === undefined) return;
    throw new HubError('HUB_STOPPING', `Server "${spec.server}" was not started: the hub is shutting down.`, {
      details: { server: spec.server },
    });
  }

  async function closeAll(): Promise<void> {
    await Promise.all([...live, ...hosted].map((child) => child.stop()));
    const left = await endMarked(clock, (cookie) => cookie.startsWith(`${owner.boot}:`), { since: owner.start });
    if (!left.clean) logger.warn('children.left', { ended: left.ended });
    await watchdog.close();
  }

  return {
    start,
    host,
    async sweepStale() {
      const { ended } = await endStale(clock, owner);
      if (ended > 0) logger.warn('children.stale', { ended });
      return ended;
    },
    close() {
      closing ??= closeAll();
      return closing;
    },
    get watchdogPid() {
      return watchdog.pid;
    },
    get running() {
      return live.size;
    },
  };
}

/** In a session and group of its own, so that one signal reaches all that stay in it. */
function spawnGroup(
  spec: ChildSpec,
  file: string,
  args: readonly string[],
  env: Record<string, string>,
): ChildProcessWithoutNullStreams {
  try {
    return spawn(file, args, { cwd: spec.cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  } catch (error) {
    throw unavailable(spec, error);
  }
}

function failureOf(leader: ChildProcessWithoutNullStreams): Promise<Error> {
  return new Promise((resolve) => leader.once('error', resolve));
}

/** Without Node's error as its cause: that repeats arguments and variables, which may be secrets. */
function unavailable(spec: ChildSpec, error: unknown): HubError {
  const code = errnoOf(error) ?? 'unknown reason';
  return new HubError('UPSTREAM_UNAVAILABLE', `Server "${spec.server}": "${spec.command}" was not started (${code}).`, {
    hint: 'Check its command, args and env, and the limits on processes and open files.',
    details: { server: spec.server, command: spec.command, reason: `not started (${code})` },
  });
}

function noBuiltins(server: string): HubError {
  return new HubError('UPSTREAM_UNAVAILABLE', `Server "${server}": this hub was made without built-in servers.`, {
    details: { server },
  });
}

/** Whatever keeps it from working is told here, as a program would tell it on stderr. */
function notOpened(server: string, { message, hint }: HubError): HubError {
  return new HubError('UPSTREAM_UNAVAILABLE', `Server "${server}" was not started. ${message}`, {
    ...(hint === undefined ? {} : { hint }),
    details: { server },
  });
}

function unwatched(spec: ChildSpec): HubError {
  return new HubError(
    'UPSTREAM_UNAVAILABLE',
    `Server "${spec.server}" was not started: its watchdog does not stay alive.`,
    {
      hint: 'Check that /bin/sh works, and the limits on processes and open files.',
      details: { server: spec.server },
    },
  );
}

function refuseWindows(spec: ChildSpec): void {
  if (process.platform !== 'win32') return;
  throw new HubError('UPSTREAM_UNAVAILABLE', `Server "${spec.server}": stdio servers do not run on Windows yet.`, {
    hint: 'Run the hub inside WSL, or reach the server over HTTP.',
    details: { server: spec.server },
  });
}
