import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, errnoOf } from '../../../base/index.ts';
import { type ToolContext, ToolFault } from '../../serving/index.ts';
import { createSemaphore } from '../semaphore.ts';
import type { ConfigEntry } from './local-config.ts';
import { type Git, type GitHost, listConfig, prepareGit } from './prepare-git.ts';
import type { Repository } from './repository.ts';

export interface GitCallsDeps {
  readonly clock: Clock;
  readonly host: GitHost;
}

export interface GitCallsOptions {
  /** Parent of the folder that each call has while it runs. */
  readonly tmpDir: string;
  readonly timeoutMs: number;
}

/** Runs git for the tools and tracks the calls in flight. */
export interface GitCalls {
  /** The settings of one configuration file, without its includes. */
  readConfig(file: string): Promise<readonly ConfigEntry[]>;
  /** Kills git when the call is cancelled, on timeout, or at `close`. */
  onRepository<T>(repository: Repository, call: ToolContext, work: (git: Git) => Promise<T>): Promise<T>;
  /** Resolves when no git process runs and all temporary folders are removed. */
  close(): Promise<void>;
}

/** The dependencies that all git tools share. */
export interface GitTools {
  readonly calls: GitCalls;
  readonly repository: Repository;
  readonly maxBytes: number;
}

export function createGitCalls({ clock, host }: GitCallsDeps, { tmpDir, timeoutMs }: GitCallsOptions): GitCalls {
  const inFlight = new Map<AbortController, Promise<unknown>>();
  const turns = createSemaphore(maxAtOnce);
  let closed = false;

  async function inDir<T>(call: ToolContext, work: (dir: string, signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = call;
    if (closed || signal.aborted) throw givenUp();
    const ending = new AbortController();
    const giveUp = (): void => ending.abort(givenUp());
    signal.addEventListener('abort', giveUp, { once: true });
    const timer = clock.setTimer(timeoutMs, () => ending.abort(late(timeoutMs)));
    const running = inTurn({ ...call, signal: ending.signal }, (dir) => work(dir, ending.signal));
    inFlight.set(ending, running);
    try {
      return await running;
    } finally {
      inFlight.delete(ending);
      timer.cancel();
      signal.removeEventListener('abort', giveUp);
    }
  }

  async function inTurn<T>({ signal, agent }: ToolContext, work: (dir: string) => Promise<T>): Promise<T> {
    const endTurn = await turns.of(agent).take(signal);
    return inTemporaryDir(tmpDir, work).catch(asFault).finally(endTurn);
  }

  return {
    readConfig: (file) => inDir(new AbortController(), (dir, signal) => listConfig(host, file, dir, signal)),
    onRepository: (repository, call, work) =>
      inDir(call, async (dir, ending) => work(await prepareGit(host, repository, dir, ending))),
    async close() {
      closed = true;
      for (const ending of inFlight.keys()) ending.abort(givenUp());
      await Promise.allSettled(inFlight.values());
    },
  };
}

/** Each call runs several processes in sequence, and the machine has other work too. */
const maxAtOnce = 8;

async function inTemporaryDir<T>(parent: string, work: (dir: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(parent, 'qm-git-'));
  try {
    return await work(dir);
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Errors of the operating system are not bugs: folders disappear, disks fill up. */
function asFault(error: unknown): never {
  const code = errnoOf(error);
  // Node.js's own codes mean wrong arguments, which would be a bug.
  if (code === undefined || code.startsWith('ERR_')) throw error;
  throw new ToolFault(`The repository, git or the temporary folder cannot be used (${code}).`);
}

function givenUp(): ToolFault {
  return new ToolFault('The call was cancelled before git finished.');
}

function late(ms: number): ToolFault {
  return new ToolFault(
    `git took longer than ${ms / 1_000} seconds and was ended. Narrow the request: give a path, a smaller limit or a later date.`,
  );
}
