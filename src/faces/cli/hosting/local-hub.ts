import { createBuiltins } from '../../../apps/builtin/index.ts';
import { type Logger, sleep } from '../../../base/index.ts';
import type { Hub, HubDeps, HubMeter, HubOptions } from '../../../hub/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { loginName } from '../login-name.ts';
import { type CliLogLevel, createLogger } from '../terminal/cli-logger.ts';
import { openTraces } from './open-traces.ts';

export interface LocalHub {
  readonly hub: Hub;
  readonly logger: Logger;
  /** Stops it, with a time limit: the watchdog ends what is left. */
  close(): Promise<void>;
}

/** A hub inside this process. From now on its secrets are masked in all output. */
export async function openLocalHub(
  cli: CliContext,
  { workspace, logLevel }: Invocation,
  options: {
    readonly watch: boolean;
    readonly discover?: boolean;
    readonly defaultLevel: CliLogLevel;
    readonly meter?: HubMeter;
    readonly trust?: HubOptions['trust'];
    readonly agentFolder?: HubOptions['agentFolder'];
    /** Of the port, once it is open. */
    readonly ownUrl?: HubDeps['ownUrl'];
  },
): Promise<LocalHub> {
  const { clock, random, env, mask } = cli;
  const logger = createLogger(cli, logLevel ?? options.defaultLevel);
  const [{ createHub, createRedaction }, { stateHomeFor }, traces] = await Promise.all([
    import('../../../hub/index.ts'),
    import('../../../storage/index.ts'),
    openTraces(cli, logger),
  ]);
  const hub = await createHub(
    {
      clock,
      logger,
      random,
      env,
      builtins: createBuiltins(),
      meter: options.meter,
      tracer: traces?.tracer,
      operator: loginName(cli),
      ownUrl: options.ownUrl,
    },
    {
      workspace,
      stateHome: stateHomeFor(workspace, env),
      watch: options.watch,
      discover: options.discover,
      trust: options.trust,
      agentFolder: options.agentFolder,
    },
  );
  // Secrets of earlier configurations stay masked here, as in the hub.
  const redaction = createRedaction(hub.configuration);
  mask.use(redaction);
  hub.onReload(() => redaction.learn(hub.configuration));
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
  // The command itself reports a server's failure; the log would only repeat it.
  const local = await openLocalHub(cli, invocation, { watch: false, defaultLevel: 'error' });
  try {
    return await work(local.hub);
  } finally {
    cli.terminal.progress('');
    await local.close();
  }
}

/** Slightly more than the hub gives calls in flight. */
const stopMs = 15_000;

async function stopWithin({ clock }: CliContext, hub: Hub): Promise<void> {
  const enough = new AbortController();
  await Promise.race([hub.stop(), sleep(clock, stopMs, enough.signal)]);
  enough.abort();
}
