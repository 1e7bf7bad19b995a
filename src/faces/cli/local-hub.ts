import { createBuiltins } from '../../apps/builtin/index.ts';
import { type Logger, sleep } from '../../base/index.ts';
import type { Hub, HubMeter } from '../../hub/index.ts';
import type { CliContext } from './context.ts';
import type { Invocation } from './global-options.ts';
import { createLogger, type LogLevel } from './logger.ts';
import { openTraces } from './open-traces.ts';

export interface LocalHub {
  readonly hub: Hub;
  readonly logger: Logger;
  /** Ends it, but does not wait for ever: the watchdog ends what is left. */
  close(): Promise<void>;
}

/** A hub inside this process; its secrets are hidden from everything that is printed from now on. */
export async function openLocalHub(
  cli: CliContext,
  { workspace, logLevel }: Invocation,
  options: {
    readonly watch: boolean;
    readonly discover?: boolean;
    readonly defaultLevel: LogLevel;
    readonly meter?: HubMeter;
  },
): Promise<LocalHub> {
  const { clock, random, env, mask } = cli;
  const logger = createLogger(cli, logLevel ?? options.defaultLevel);
  const [{ createHub, createRedaction }, traces] = await Promise.all([
    import('../../hub/index.ts'),
    openTraces(cli, logger),
  ]);
  const hub = await createHub(
    { clock, logger, random, env, builtins: createBuiltins(), meter: options.meter, tracer: traces?.tracer },
    { workspace, watch: options.watch, discover: options.discover },
  );
  // Secrets of earlier configurations stay hidden here as they do in the hub.
  const redaction = createRedaction(hub.fleet);
  mask.use(redaction);
  hub.onReload(() => redaction.learn(hub.fleet));
  return {
    hub,
    logger,
    async close() {
      await stopWithin(cli, hub);
      await traces?.close();
    },
  };
}

export async function withLocalHub<T>(
  cli: CliContext,
  invocation: Invocation,
  work: (hub: Hub) => Promise<T>,
): Promise<T> {
  // The command says itself what a server failed with; the log would only say it twice.
  const local = await openLocalHub(cli, invocation, { watch: false, defaultLevel: 'error' });
  try {
    return await work(local.hub);
  } finally {
    cli.terminal.progress('');
    await local.close();
  }
}

/** A little over the time that the hub gives to calls under way. */
const stopMs = 15_000;

async function stopWithin({ clock }: CliContext, hub: Hub): Promise<void> {
  const enough = new AbortController();
  await Promise.race([hub.stop(), sleep(clock, stopMs, enough.signal)]);
  enough.abort();
}
