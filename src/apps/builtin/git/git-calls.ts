import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, errnoOf } from '../../../base/index.ts';
import { ToolFault } from '../../serving/index.ts';
import { createTurns } from '../turns.ts';
import type { ConfigEntry } from './local-config.ts';
import { type Git, type GitHost, listConfig, prepareGit } from './prepare-git.ts';
import type { Repository } from './repository.ts';

export interface GitCallsDeps {
  readonly clock: Clock;
  readonly host: GitHost;
}

export interface GitCallsOptions {
  /** Where each call has a folder while it runs. */
  readonly tmpDir: string;
  readonly timeoutMs: number;
}

/** Runs git for the tools, and knows what is under way. */
export interface GitCalls {
  /** What git says of one configuration file; what that file includes is left out. */
  readConfig(file: string): Promise<readonly ConfigEntry[]>;
  /** Ends what git is still doing for the work when the signal aborts, when time is up, or at `close`. */
  onRepository<T>(repository: Repository, signal: AbortSignal, work: (git: Git) => Promise<T>): Promise<T>;
  /** Resolves when no git runs any more and nothing of it is left. */
  close(): Promise<void>;
}

/** What the tools have in common. */
export interface GitTools {
  readonly calls: GitCalls;
  readonly repository: Repository;
  readonly maxBytes: number;
}

export function createGitCalls({ clock, host }: GitCallsDeps, { tmpDir, timeoutMs }: GitCallsOptions): GitCalls {
  const underWay = new Map<AbortController, Promise<unknown>>();
  const turns = createTurns(maxAtOnce);
  let closed = false;

  async function inDir<T>(signal: AbortSignal, work: (dir: string, signal: AbortSignal) => Promise<T>): Promise<T> {
    if (closed || signal.aborted) throw givenUp();
    const ending = new AbortController();
    const giveUp = (): void => ending.abort(givenUp());
    signal.addEventListener('abort', giveUp, { once: true });
    const timer = clock.setTimer(timeoutMs, () => ending.abort(late(timeoutMs)));
    const running = inTurn(ending.signal, (dir) => work(dir, ending.signal));
    underWay.set(ending, running);
    try {
      return await running;
    } finally {
      underWay.delete(ending);
      timer.cancel();
      signal.removeEventListener('abort', giveUp);
    }
  }

  async function inTurn<T>(signal: AbortSignal, work: (dir: string) => Promise<T>): Promise<T> {
    const endTurn = await turns.take(signal);
    return inTemporaryDir(tmpDir, work).catch(asFault).finally(endTurn);
  }

  return {
    readConfig: (file) => inDir(new AbortController().signal, (dir, signal) => listConfig(host, file, dir, signal)),
    onRepository: (repository, signal, work) =>
      inDir(signal, async (dir, ending) => work(await prepareGit(host, repository, dir, ending))),
    async close() {
      closed = true;
      for (const ending of underWay.keys()) ending.abort(givenUp());
      await Promise.allSettled(underWay.values());
    },
  };
}

/** Each call is several processes, one after the other; the rest of the machine has work too. */
const maxAtOnce = 8;

async function inTemporaryDir<T>(parent: string, work: (dir: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(parent, 'qm-git-'));
  try {
    return await work(dir);
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** What the operating system refuses is nobody's defect: folders go away, disks are full. */
function asFault(error: unknown): never {
  const code = errnoOf(error);
  // Node's own codes are for wrong arguments, which would be a defect.
  if (code === undefined || code.startsWith('ERR_')) throw error;
  throw new ToolFault(`The repository, git or the folder for temporary files cannot be used (${code}).`);
}

function givenUp(): ToolFault {
  return new ToolFault('The call was given up before git had answered.');
}

function late(ms: number): ToolFault {
  return new ToolFault(
    `git took longer than ${ms / 1_000} seconds and was ended. Ask for less: a path, a smaller limit, a later date.`,
  );
}
