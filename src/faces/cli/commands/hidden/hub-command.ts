import { Command } from 'commander';
import { defectFields, HubError, sleep, toHubError, version } from '../../../../base/index.ts';
import type { CliContext } from '../../context.ts';
import { type Invocation, readInvocation } from '../../global-options.ts';
import type { HostedHub } from '../../hosting/host-hub.ts';

/** The hub that commands and clients start in the background when the workspace has none. Not meant for people. */
export function hubCommand(cli: CliContext): Command {
  return new Command('hub')
    .description('run the hub of the workspace without a port, as long as it is used')
    .action((_options, command: Command) =>
      runHub(cli, readInvocation(command, cli), readSeconds(cli.env.QM_HUB_IDLE ?? '60') * 1000),
    );
}

async function runHub(cli: CliContext, invocation: Invocation, idleMs: number): Promise<void> {
  const stop = cli.signals.graceful();
  const { hostHub } = await import('../../hosting/host-hub.ts');
  let hosted: HostedHub;
  try {
    hosted = await hostHub(cli, invocation, { role: 'background', defaultLevel: 'info' });
  } catch (error) {
    const { code, message, hint, details } = toHubError(error);
    const told = { code, message: cli.mask.text(message), ...(hint === undefined ? {} : { hint }) };
    cli.tellParent({ kind: 'failed', ...told, served: details.served === true });
    throw error;
  }
  const { hub, logger, leave } = hosted;
  const failed = new AbortController();
  cli.signals.onDefect((error) => {
    logger.error('process.defect-found', defectFields(error));
    cli.exitWith(1);
    failed.abort();
  });
  cli.signals.onRejection((error) => logger.error('process.rejection-unhandled', defectFields(error)));
  for (const problem of hub.configuration.problems) logger.warn('config.problem-found', { ...problem });
  logger.info('hub.started', { version, workspace: hub.workspace });
  cli.tellParent({ kind: 'ready' });
  await untilUnused(cli, hosted, idleMs, AbortSignal.any([stop, failed.signal, leave]));
  const why = leave.aborted
    ? String(leave.reason)
    : stop.aborted
      ? 'signal'
      : failed.signal.aborted
        ? 'defect'
        : 'unused';
  await hosted.close();
  logger.info('hub.ended', { why });
}

const pollMs = 1000;

async function untilUnused(
  { clock }: CliContext,
  { hub, control }: HostedHub,
  idleMs: number,
  end: AbortSignal,
): Promise<void> {
  const { boundHubLog } = await import('../../../../storage/index.ts');
  let usedAt = clock.monotonic();
  while (!end.aborted) {
    await sleep(clock, Math.min(pollMs, idleMs), end);
    boundHubLog(2);
    const now = clock.monotonic();
    if (control.clients() > 0 || hub.callsInFlight > 0) usedAt = now;
    else if (now - usedAt >= idleMs) return;
  }
}

function readSeconds(text: string): number {
  const seconds = /^\d{1,5}(\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  if (seconds > 0) return seconds;
  throw new HubError('USAGE', `QM_HUB_IDLE is "${text.slice(0, 40)}", which is not a number of seconds.`);
}
