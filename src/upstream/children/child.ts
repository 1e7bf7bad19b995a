import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { type Clock, type Logger, readProcess, settlesWithin } from '../../base/index.ts';
import type { ChildExit, ChildStreams } from './child-streams.ts';
import { endGroup, signalGroup } from './group.ts';
import type { ListProcesses } from './process-table.ts';
import type { StderrWriter } from './stderr-logs.ts';
import { createStderrTail, type StderrTail } from './stderr-tail.ts';
import type { Sweeper } from './sweep.ts';

/** One running stdio server. `stop` sends EOF, SIGTERM and SIGKILL with graces between, and ends descendants too. */
export interface Child extends ChildStreams {
  readonly pid: number;
  /** The end of its stderr output. It may contain secrets, so redact it before you show it. */
  stderrTail(): string;
}

export interface OwnedChild extends Child {
  /** Resolves when the process and its descendants are gone, for whatever reason. */
  readonly ended: Promise<void>;
}

interface ChildOptions {
  readonly server: string;
  readonly cookie: string;
  readonly graceMs: number;
  readonly stderrTailBytes: number;
}

const sweepWaitMs = 3_000;
const lastStderrMs = 250;

export interface ChildDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly leader: ChildProcessWithoutNullStreams;
  /** Shared with the other children, as is `sweeper`. */
  readonly list: ListProcesses;
  readonly sweeper: Sweeper;
  /** Keeps its stderr output beyond the end of the process. */
  readonly stderr: StderrWriter;
}

export function createChild(deps: ChildDeps, options: ChildOptions): OwnedChild {
  return new StdioChild(deps, options);
}

class StdioChild implements OwnedChild {
  readonly pid: number;
  readonly exited: Promise<ChildExit>;
  readonly ended: Promise<void>;
  readonly #deps: ChildDeps;
  readonly #options: ChildOptions;
  readonly #startTime: number;
  readonly #tail: StderrTail;
  /** Resolves when the leader exits; its descendants may still be running. */
  readonly #leaderExit: Promise<Pick<ChildExit, 'code' | 'signal'>>;
  #ending: Promise<void> | undefined;
  #isGroupGone = false;

  constructor(deps: ChildDeps, options: ChildOptions) {
    const { leader } = deps;
    this.#deps = deps;
    this.#options = options;
    // The caller checks that the process started; only then is there a pid.
    this.pid = leader.pid as number;
    this.#startTime = readProcess(this.pid)?.start ?? 0;
    this.#tail = createStderrTail(options.stderrTailBytes);
    leader.stderr.on('data', (chunk: Buffer) => {
      this.#tail.push(chunk);
      deps.stderr.push(chunk);
    });
    leader.stderr.once('close', () => deps.stderr.end());
    // A broken pipe shows as the exit; without listeners it would end the hub.
    for (const emitter of [leader, leader.stdin, leader.stdout, leader.stderr]) emitter.on('error', () => {});
    this.#leaderExit = new Promise((resolve) => {
      leader.once('exit', (code, signal) => resolve({ code, signal }));
    });
    this.exited = this.#exit();
    this.ended = this.#leaderExit.then(() => this.stop());
  }

  get stdin(): Writable {
    return this.#deps.leader.stdin;
  }

  get stdout(): Readable {
    return this.#deps.leader.stdout;
  }

  stderrTail(): string {
    return this.#tail.text();
  }

  stop(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  kill(): void {
    // Once the group is gone, another one may get its number.
    if (!this.#isGroupGone) signalGroup(this.pid, 'SIGKILL');
    void this.stop();
  }

  async #exit(): Promise<ChildExit> {
    const { code, signal } = await this.#leaderExit;
    await settlesWithin(this.#deps.clock, lastStderrMs, closed(this.#deps.leader.stderr));
    return { code, signal, stderrTail: this.#tail.text() };
  }

  async #end(): Promise<void> {
    const { clock, logger, leader } = this.#deps;
    const { server, graceMs } = this.#options;
    leader.stdin.end();
    await settlesWithin(clock, graceMs, this.#leaderExit);
    if (!(await endGroup(this.#deps, this.pid, graceMs))) logger.error('child.not-killed', { server, pid: this.pid });
    this.#isGroupGone = true;
    await this.#sweepDescendants();
    void this.#releaseStreams();
  }

  async #sweepDescendants(): Promise<void> {
    const { clock, logger, sweeper } = this.#deps;
    const work = sweeper.end(this.#options.cookie, this.#startTime).then(({ clean }) => {
      if (!clean) logger.error('child.descendants-left', { server: this.#options.server, pid: this.pid });
    });
    // On a busy machine the sweep may take longer. It then goes on, and logs what it finds.
    await settlesWithin(clock, sweepWaitMs, work);
  }

  /** The transport may still be reading stdout, but a descendant out of reach must not hold the stream open forever. */
  async #releaseStreams(): Promise<void> {
    const { clock, leader } = this.#deps;
    leader.stdin.destroy();
    await settlesWithin(clock, this.#options.graceMs, Promise.all([closed(leader.stdout), closed(leader.stderr)]));
    leader.stdout.destroy();
    leader.stderr.destroy();
  }
}

async function closed(stream: Readable): Promise<void> {
  if (!stream.closed) await once(stream, 'close');
}
