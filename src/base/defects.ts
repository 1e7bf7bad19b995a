import type { Clock } from './clock.ts';
import { HubError } from './errors.ts';
import type { LogFields, Logger } from './logger.ts';

/** Log fields for an unexpected error. */
export function defectFields(error: unknown): LogFields {
  const origin = error instanceof HubError && error.cause instanceof Error ? error.cause : error;
  return origin instanceof Error ? { error: origin.message, stack: origin.stack } : { error: String(error) };
}

/** Runs foreign code, such as a listener. Errors are logged and never reach the caller. */
export function contain(logger: Logger, event: string, fields: LogFields, work: () => void): void {
  try {
    work();
  } catch (error) {
    logger.error(event, { ...fields, ...defectFields(error) });
  }
}

/** Wraps a clock so that an error thrown in a timer is a defect of one connection, not the end of the process. */
export function containTimers(clock: Clock, onDefect: (error: unknown) => void): Clock {
  return {
    now: clock.now,
    monotonic: clock.monotonic,
    setTimer: (ms, run) =>
      clock.setTimer(ms, () => {
        try {
          run();
        } catch (error) {
          onDefect(error);
        }
      }),
  };
}
