import { defectFields, type Logger } from '../../base/index.ts';
import type { CliContext } from './context.ts';

/** Until what is served on the standard pipes has ended: by its client, a signal, the terminal, or a defect. */
export async function servePipes(
  cli: CliContext,
  logger: Logger,
  stop: AbortSignal,
  serving: { readonly ended: Promise<void>; close(): void },
): Promise<void> {
  const end = (): void => serving.close();
  cli.signals.onDefect((error) => {
    logger.error('defect', defectFields(error));
    cli.exitWith(1);
    end();
  });
  cli.signals.onRejection((error) => logger.error('unhandled_rejection', defectFields(error)));
  if (cli.stdin.isTTY === true) {
    cli.terminal.err('An MCP client is meant to start this, and to talk to it over stdin and stdout. Ctrl-D ends it.');
  }
  stop.addEventListener('abort', end, { once: true });
  cli.terminal.gone.addEventListener('abort', end, { once: true });
  if (stop.aborted) end();
  await serving.ended;
}
