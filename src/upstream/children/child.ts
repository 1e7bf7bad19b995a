import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { type Clock, type Logger, readProcess, sleep } from '../../base/index.ts';
import { groupGone, signalGroup } from './group.ts';
import type { Peer, PeerExit } from './peer.ts';
import type { ListProcesses } from './process-table.ts';
import { createStderrTail } from './stderr-tail.ts';
import type { Sweeper } from './sweep.ts';

/** One running stdio server. Stopping is EOF, SIGTERM, SIGKILL with a grace between them, for its descendants too. */
export interface Child extends Peer {
  readonly pid: number;
  /** The last of what it wrote to stderr. May hold secrets: redact before it is shown. */
  stderrTail(): string;
}

export interface OwnedChild extends Child {
  /** Resolves when the process and its descendants are gone, whoever ended them. */
  readonly ended: Promise<void>;
}

interface ChildOptions {
  readonly server: string;
  readonly cookie: string;
  readonly graceMs: number;
  readonly stderrTailBytes: number;
}

const killWaitMs = 2_000;
const sweepWaitMs = 3_000;
const lastStderrMs = 250;

export interface ChildDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly leader: ChildProcessWithoutNullStreams;
  /** Both are shared with the other children. */
  readonly list: ListProcesses;
  readonly sweeper: Sweeper;
}

export function createChild(deps: ChildDeps, options: ChildOptions): OwnedChild {
  const { clock, logger, leader, list } = deps;
  const { stdin, stdout, stderr } = leader;
  // The caller checks that the process started; only then is there a pid.
  const pid = leader.pid as number;
  const since = readProcess(pid)?.start ?? 0;
  const tail = createStderrTail(options.stderrTailBytes);
  let ending: Promise<void> | undefined;
  let gone = false;

  stderr.on('data', (chunk: Buffer) => tail.push(chunk));
  // A broken pipe shows as the exit; without listeners it would end the hub.
  for (const emitter of [leader, stdin, stdout, stderr]) emitter.on('error', () => {});

  const left = new Promise<Pick<PeerExit, 'code' | 'signal'>>((resolve) => {
    leader.once('exit', (code, signal) => resolve({ code, signal }));
  });
  const exited = left.then(async ({ code, signal }): Promise<PeerExit> => {
    await settlesWithin(clock, lastStderrMs, closed(stderr));
    return { code, signal, stderrTail: tail.text() };
  });
  const ended = left.then(stop);

  function stop(): Promise<void> {
    ending ??= end();
    return ending;
  }

  async function end(): Promise<void> {
    stdin.end();
    await settlesWithin(clock, options.graceMs, left);
    await endGroup();
    gone = true;
    await sweep();
    void releaseStreams();
  }

  async function endGroup(): Promise<void> {
    if (await groupGone(clock, list, pid, 0)) return;
    signalGroup(pid, 'SIGTERM');
    if (await groupGone(clock, list, pid, options.graceMs)) return;
    signalGroup(pid, 'SIGKILL');
    if (await groupGone(clock, list, pid, killWaitMs)) return;
    logger.error('child.unkillable', { server: options.server, pid });
  }

  async function sweep(): Promise<void> {
    const work = deps.sweeper.end(options.cookie, since).then(({ clean }) => {
      if (!clean) logger.error('child.descendants-left', { server: options.server, pid });
    });
    // A look at a busy machine may take longer; that something is left is said only when it was seen.
    await settlesWithin(clock, sweepWaitMs, work);
  }

  /** Whoever reads stdout may still be behind; but a descendant out of reach must not hold it open for ever. */
  async function releaseStreams(): Promise<void> {
    stdin.destroy();
    await settlesWithin(clock, options.graceMs, Promise.all([closed(stdout), closed(stderr)]));
    stdout.destroy();
    stderr.destroy();
  }

  return {
    pid,
    stdin,
    stdout,
    stderrTail: () => tail.text(),
    exited,
    ended,
    stop,
    kill() {
      // Once the group is gone its number may be another's.
      if (!gone) signalGroup(pid, 'SIGKILL');
      void stop();
    },
  };
}

async function closed(stream: Readable): Promise<void> {
  if (!stream.closed) await once(stream, 'close');
}

/** True when the promise settled in time. */
async function settlesWithin(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  const settled = new AbortController();
  const done = work.then(
    () => true,
    () => true,
  );
  const inTime = await Promise.race([done, sleep(clock, ms, settled.signal).then(() => false)]);
  settled.abort();
  return inTime;
}
