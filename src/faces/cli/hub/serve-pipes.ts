import { defectFields, type Logger } from '../../../base/index.ts';
import type { CliContext } from '../context.ts';

/** Resolves when serving on stdin and stdout has ended: by its client, a signal, the terminal, or a bug. */
export async function servePipes(
  cli: CliContext,
  logger: Logger,
  stop: AbortSignal,
  serving: { readonly ended: Promise<void>; close(): void },
): Promise<void> {
  const end = (): void => serving.close();
  cli.signals.onDefect((error) => {
    logger.error('process.defect-found', defectFields(error));
    cli.exitWith(1);
    end();
  });
  cli.signals.onRejection((error) => logger.error('process.rejection-unhandled', defectFields(error)));
  if (cli.stdin.isTTY === true) {
    cli.terminal.err(
      'This command is meant to be started by an MCP client, which talks to it over stdin and stdout. Ctrl-D ends it.',
    );
  }
  stop.addEventListener('abort', end, { once: true });
  cli.terminal.gone.addEventListener('abort', end, { once: true });
  if (stop.aborted) end();
  await serving.ended;
}
