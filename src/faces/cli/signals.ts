/** How the operator ends a command. */
export interface Signals {
  /**
   * From now on the first SIGINT, SIGTERM or SIGHUP asks to stop and the second ends the process;
   * commands that never ask are ended by the first, as usual.
   */
  graceful(): AbortSignal;
  /** A defect that nothing caught; the process goes on only to close what is open. */
  onDefect(listener: (error: unknown) => void): void;
  /** A promise that failed and that nobody waits for; the process goes on. */
  onRejection(listener: (error: unknown) => void): void;
}

export interface SignalSource {
  on(event: NodeJS.Signals, listener: () => void): unknown;
  on(event: 'uncaughtException' | 'unhandledRejection', listener: (error: unknown) => void): unknown;
  exit(code: number): never;
}

const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

export function createSignals(source: SignalSource): Signals {
  const stop = new AbortController();
  let listening = false;
  return {
    graceful() {
      if (listening) return stop.signal;
      listening = true;
      for (const [name, code] of Object.entries(codes)) {
        source.on(name as keyof typeof codes, () => {
          // Object.entries forgets the keys
          if (stop.signal.aborted) source.exit(code);
          stop.abort();
        });
      }
      return stop.signal;
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
