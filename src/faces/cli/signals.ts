import type { Clock } from '../../base/index.ts';

/** How the operator ends a command. */
export interface Signals {
  /**
   * From now on the first SIGINT, SIGTERM or SIGHUP requests a stop and the second ends the process. For commands that
   * never call this, the first one ends the process.
   */
  graceful(): AbortSignal;
  /** Whether Ctrl-C was pressed. The command then exits with 130, however far it came. */
  readonly interrupted: boolean;
  /** Called for an uncaught error. The process then only continues to close its resources. */
  onDefect(listener: (error: unknown) => void): void;
  /** Called for an unhandled rejection. The process continues. */
  onRejection(listener: (error: unknown) => void): void;
}

export interface SignalSource {
  on(event: NodeJS.Signals, listener: () => void): unknown;
  on(event: 'uncaughtException' | 'unhandledRejection', listener: (error: unknown) => void): unknown;
  exit(code: number): never;
}

/** Programs such as `timeout` send a signal to the process and to its group: both are one request. */
const togetherMs = 300;

const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

export function createSignals(source: SignalSource, clock: Pick<Clock, 'monotonic'>): Signals {
  const stop = new AbortController();
  let [graceful, interrupted] = [false, false];
  let firstAt = 0;
  for (const [name, code] of Object.entries(codes)) {
    // Object.entries loses the key type.
    source.on(name as keyof typeof codes, () => {
      interrupted ||= name === 'SIGINT';
      if (!graceful) source.exit(code);
      if (!stop.signal.aborted) {
        firstAt = clock.monotonic();
        stop.abort();
      } else if (clock.monotonic() - firstAt >= togetherMs) source.exit(code);
    });
  }
  return {
    graceful() {
      graceful = true;
      return stop.signal;
    },
    get interrupted() {
      return interrupted;
    },
    onDefect(listener) {
      source.on('uncaughtException', listener);
    },
    onRejection(listener) {
      source.on('unhandledRejection', listener);
    },
  };
}

export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
