import { HubError, sleep, toHubError } from '../../../base/index.ts';
import {
  acquireLock,
  claimWorkspace,
  ensureStateFolder,
  type Lock,
  readServeFile,
  type WorkspaceLayout,
} from '../../../storage/index.ts';
import { readOutcome } from '../../attach/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { attachToHub } from '../hub/attach-to-hub.ts';
import { createLogger } from '../terminal/cli-logger.ts';

export interface WorkspaceLock extends Lock {
  /** Recreates the lock file after its folder was deleted. */
  takeAgain(): Promise<void>;
}

/** Longer than a hub that makes room gives its calls in flight, and then takes to stop. */
const handOverMs = 90_000;
/** How long a hub may take to start before it can be asked. */
const startMs = 5000;
const pollMs = 50;
const askAgainMs = 500;

/**
 * Allows one hub per workspace, because two would miss each other's revocations. With `replaces`, a hub in the
 * background finishes its calls and makes room.
 */
export async function takeWorkspace(
  cli: CliContext,
  invocation: Invocation,
  layout: WorkspaceLayout,
  { replaces }: { readonly replaces: boolean },
): Promise<WorkspaceLock> {
  const { clock, terminal } = cli;
  const stop = cli.signals.graceful();
  const startedAt = clock.monotonic();
  let askedAt: number | undefined;
  for (;;) {
    try {
      const lock = await lockWorkspace(cli, invocation, layout);
      if (askedAt !== undefined) terminal.progress('');
      return lock;
    } catch (error) {
      const known = toHubError(error);
      if (known.code !== 'STATE_LOCKED') throw error;
      if (stop.aborted) throw new HubError('CANCELLED', 'Stopped while waiting for another hub to end.');
      const running = replaces ? await readServeFile(layout).catch(() => undefined) : undefined;
      const waited = clock.monotonic() - startedAt;
      // A hub has no entry while it starts, and none any more while it stops.
      const limitMs = askedAt !== undefined ? handOverMs : running === undefined ? startMs : Number.POSITIVE_INFINITY;
      if (!replaces || running?.role === 'serve' || waited >= limitMs) {
        throw await servedAlready(layout, known);
      }
      // Again and again: another command may have been faster to start a hub than this one.
      if (running !== undefined && (askedAt === undefined || clock.monotonic() - askedAt >= askAgainMs)) {
        terminal.progress('Taking over from the hub in the background; it finishes its calls first …');
        await askToHandOver(cli, invocation);
        askedAt = clock.monotonic();
      }
      await sleep(clock, pollMs, stop);
    }
  }
}

/** A hub that cannot be asked any more is about to end, or the lock will tell. */
async function askToHandOver(cli: CliContext, invocation: Invocation): Promise<void> {
  const order = { agent: 'operator', run: undefined, operation: { name: 'hand-over', params: {} } };
  try {
    const attached = await attachToHub(cli, invocation, order);
    if (attached !== undefined) await readOutcome(attached, cli.clock, { maxBytes: 64 * 1024, timeoutMs: 5000 });
  } catch (error) {
    const { code } = toHubError(error);
    if (code !== 'HUB_STOPPING' && code !== 'HUB_LOST' && code !== 'STATE_LOCKED') throw error;
  }
}

/** On this machine the claim decides. The lock file is for hubs on other machines, in containers, and of earlier versions. */
export async function lockWorkspace(
  cli: CliContext,
  { logLevel }: Pick<Invocation, 'logLevel'>,
  layout: WorkspaceLayout,
): Promise<WorkspaceLock> {
  const { clock, random } = cli;
  const options = { clock, random, waitMs: 0 };
  const claim = await claimWorkspace(layout, options);
  try {
    await ensureStateFolder(layout, { clock, random, logger: createLogger(cli, logLevel ?? 'info') });
    let lock = await acquireLock(layout, 'hub', options);
    return {
      async takeAgain() {
        lock = await acquireLock(layout, 'hub', options);
      },
      async release() {
        await lock.release();
        await claim.release();
      },
    };
  } catch (error) {
    await claim.release();
    throw error;
  }
}

async function servedAlready(layout: WorkspaceLayout, cause: HubError): Promise<HubError> {
  const running = await readServeFile(layout).catch(() => undefined);
  const pid = running?.pid ?? cause.details.pid;
  const where = running === undefined ? '' : ` at ${running.url}`;
  const who = pid === undefined ? '' : ` (process ${String(pid)})`;
  return new HubError('STATE_LOCKED', `A hub already serves ${layout.workspace}${where}${who}.`, {
    hint: 'Use that one, or stop it first.',
    cause,
    details: { ...cause.details, served: true },
  });
}
