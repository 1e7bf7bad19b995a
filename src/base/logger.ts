/** Logs are events with fields, not sentences with embedded values. */
export interface Logger {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

export type LogFields = Readonly<Record<string, unknown>>;

export function createSilentLogger(): Logger {
  const nothing = (): void => {};
  return { debug: nothing, info: nothing, warn: nothing, error: nothing };
}
