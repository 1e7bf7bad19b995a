import type { Clock } from './clock.ts';
import { HubError } from './errors.ts';
import type { LogFields, Logger } from './logger.ts';

/** What the log says of an error that nobody expected. */
export function defectFields(error: unknown): LogFields {
  const origin = error instanceof HubError && error.cause instanceof Error ? error.cause : error;
  return origin instanceof Error ? { error: origin.message, stack: origin.stack } : { error: String(error) };
}

/** Runs work of somebody else, such as a listener: what it throws is logged and does not reach whoever called it. */
export function contain(logger: Logger, event: string, fields: LogFields, work: () => void): void {
  try {
    work();
  } catch (error) {
    logger.error(event, { ...fields, ...defectFields(error) });
  }
}

/** The same clock, whose timers belong to one connection: what they throw is its defect, not the end of the process. */
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
