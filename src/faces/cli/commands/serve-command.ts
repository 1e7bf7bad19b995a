import { isIP } from 'node:net';
import { Command } from 'commander';
import { defectFields, HubError } from '../../../base/index.ts';
import type { CliContext } from '../context.ts';
import { type Invocation, readInvocation } from '../global-options.ts';
import { helpExamples } from '../help-examples.ts';
import type { Serve } from '../hosting/open-serve.ts';
import type { ServeLine } from '../json-shapes.ts';
import { whenAborted } from '../signals.ts';

export function serveCommand(cli: CliContext): Command {
  return new Command('serve')
    .description('run the hub: the MCP endpoint for agents and the API for operators')
    .addHelpText(
      'after',
      helpExamples('qm serve', 'qm serve --port 0 --json  # a free port; the first line of stdout says which'),
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on; 0 picks a free one (default: 4680, or a free one if it is taken)')
    .option('--trust', 'approve every server and rule that is on disk now; later changes still wait')
    .action((options: { host: string; port?: string; trust?: boolean }, command: Command) =>
      serve(cli, readInvocation(command, cli), {
        host: options.host,
        port: options.port === undefined ? undefined : readPort(options.port),
        trust: options.trust === true,
      }),
    );
}

async function serve(
  cli: CliContext,
  invocation: Invocation,
  options: { host: string; port: number | undefined; trust: boolean },
): Promise<void> {
  const stop = cli.signals.graceful();
  const { settleTrust } = await import('../trust/settle-trust.ts');
  await settleTrust(cli, invocation.workspace, { trustAll: options.trust });
  const { openServe } = await import('../hosting/open-serve.ts');
  const running = await openServe(cli, invocation, options);
  const { hub, logger } = running;
  const failed = new AbortController();
  cli.signals.onDefect((error) => {
    logger.error('process.defect-found', defectFields(error));
    cli.exitWith(1);
    failed.abort();
  });
  cli.signals.onRejection((error) => logger.error('process.rejection-unhandled', defectFields(error)));
  await announce(cli, invocation, running);
  if (!isLoopback(options.host)) {
    logger.warn('serve.opened-to-network', {
      host: options.host,
      note: 'Traffic is plain HTTP, tokens included: put TLS in front. serve.allowedHosts must name the host that clients use.',
    });
  }
  hub.onReload(() => logProblems(running));
  const { reviewChanges } = await import('../trust/review-changes.ts');
  const endReview = reviewChanges(cli, invocation, hub);
  const { announceHeldCalls } = await import('../approvals/announce-held-calls.ts');
  const endAnnouncing = announceHeldCalls(cli, invocation, hub);
  await whenAborted(AbortSignal.any([stop, failed.signal, running.leave]));
  endReview();
  endAnnouncing();
  if (hub.callsInFlight > 0) logger.info('hub.stopping', { callsInFlight: hub.callsInFlight });
  await running.close();
}

async function announce(cli: CliContext, { json }: Invocation, running: Serve): Promise<void> {
  if (!json) {
    const { bannerLines } = await import('../hosting/serve-banner.ts');
    for (const line of bannerLines(cli, running)) cli.terminal.errWhole(line);
    return;
  }
  const { url, hub, adminTokenFile } = running;
  const line: ServeLine = { url, workspace: hub.workspace, database: null, adminTokenFile };
  cli.terminal.out(JSON.stringify(line));
  logProblems(running);
}

function logProblems({ hub, logger }: Serve): void {
  for (const { severity, ...problem } of hub.configuration.problems) {
    logger[problemLevels[severity]]('config.problem-found', problem);
  }
}

const problemLevels = { error: 'error', warning: 'warn', note: 'debug' } as const;

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new HubError('USAGE', `"${text.slice(0, 40)}" is not a port.`, { hint: 'Use 0 to 65535; 0 picks a free one.' });
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
