import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { type Clock, type ErrorCode, errorTable, HubError } from '../../../base/index.ts';
import { ensureStateFolder, hubLogPath, openHubLog } from '../../../storage/index.ts';
import type { CliContext, ParentMessage } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { hubEnvironment, nodeOptionsOutside } from './hub-environment.ts';
import { stateLayout } from './state-layout.ts';

/** Long enough to recover a large journal. */
const startMs = 30_000;

/**
 * Starts the hub of the workspace as a program of its own, which ends when nobody needs it any more. `stop` ends only the
 * wait for it: others may be waiting for the same hub.
 */
export async function startBackgroundHub(
  cli: CliContext,
  { workspace }: Invocation,
  stop: AbortSignal | undefined,
): Promise<void> {
  const { clock, random, env, self } = cli;
  const layout = stateLayout(cli, workspace);
  await ensureStateFolder(layout, { clock, random });
  const log = openHubLog(layout);
  const [command, ...args] = self;
  try {
    const own = nodeOptionsOutside(args, layout.workspace);
    const child = spawn(command, [...own, 'hub', '--workspace', layout.workspace], {
      // Not the workspace: Node looks up some of its settings in the folder it starts in.
      cwd: '/',
      env: hubEnvironment(env, layout.workspace),
      // A session of its own: Ctrl-C at this terminal is not meant for it.
      detached: true,
      stdio: ['ignore', log, log, 'ipc'],
    });
    try {
      await untilReady(clock, child, hubLogPath(layout), stop);
    } finally {
      if (child.connected) child.disconnect();
      child.unref();
    }
  } finally {
    closeSync(log);
  }
}

type Starting = ReturnType<typeof spawn>;

function untilReady(clock: Clock, child: Starting, log: string, stop: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(startMs, () => finish(notStarted(`it was not ready after ${startMs / 1000} s`, log)));
    const onMessage = (message: unknown): void => {
      const told = message as ParentMessage; // from this program
      if (told.kind === 'ready') finish();
      else {
        const { code, message: why, hint, served } = told;
        finish(new HubError(knownCode(code), why, { details: { served }, ...(hint === undefined ? {} : { hint }) }));
      }
    };
    const onError = (error: Error): void => finish(notStarted(error.message, log, error));
    const onExit = (code: number | null): void => finish(notStarted(`it ended with ${String(code)}`, log));
    const onStop = (): void => finish(stoppedWaiting());

    function finish(error?: HubError): void {
      timer.cancel();
      stop?.removeEventListener('abort', onStop);
      child.off('message', onMessage).off('error', onError).off('exit', onExit);
      child.on('error', () => {});
      if (error === undefined) resolve();
      else reject(error);
    }

    child.on('message', onMessage).on('error', onError).on('exit', onExit);
    stop?.addEventListener('abort', onStop, { once: true });
    if (stop?.aborted === true) onStop();
  });
}

export function stoppedWaiting(): HubError {
  return new HubError('CANCELLED', 'Stopped while waiting for the hub.');
}

function notStarted(why: string, log: string, cause?: unknown): HubError {
  return new HubError('INTERNAL', `The hub could not be started in the background: ${why}.`, {
    hint: `Its log is ${log}. --foreground runs the hub in this process instead.`,
    cause,
  });
}

function knownCode(code: string): ErrorCode {
  return Object.hasOwn(errorTable, code) ? (code as ErrorCode) : 'INTERNAL'; // checked
}
