import type { Logger } from '../../base/index.ts';
import type { CliContext } from './context.ts';
import { oneLine } from './printable.ts';

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

export type LogLevel = (typeof logLevels)[number];

/** Events on stderr: short lines for a person at a terminal, JSON for everybody else. */
export async function createLogger(cli: Pick<CliContext, 'terminal' | 'mask'>, level: LogLevel): Promise<Logger> {
  const { pino } = await import('pino');
  const { terminal, mask } = cli;
  const settings = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    messageKey: 'event',
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { error: (error: unknown) => (error instanceof Error ? error.message : error) },
  };
  const write = (line: string): void => {
    const safe = mask.json(line.trimEnd());
    terminal.err(terminal.errIsTerminal ? shortLine(safe, terminal) : safe);
  };
  const log = pino(settings, { write });
  return {
    debug: (event, fields = {}) => log.debug(fields, event),
    info: (event, fields = {}) => log.info(fields, event),
    warn: (event, fields = {}) => log.warn(fields, event),
    error: (event, fields = {}) => log.error(fields, event),
  };
}

/** `12:03:04 warn upstream_lost server=files error="…"`, from the line that pino wrote. */
export function shortLine(line: string, { errColours }: Pick<CliContext['terminal'], 'errColours'>): string {
  // Our own line: pino writes an object, and masking keeps it JSON.
  const { time, level, event, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const details = Object.entries(fields).map(([name, value]) => `${errColours.dim(`${name}=`)}${fieldText(value)}`);
  const paint = { warn: errColours.yellow, error: errColours.red }[String(level)] ?? errColours.dim;
  const clock = new Date(String(time)).toTimeString().slice(0, 8);
  return [errColours.dim(clock), paint(String(level).padEnd(5)), String(event), ...details].join(' ');
}

function fieldText(value: unknown): string {
  if (typeof value === 'string') return /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(oneLine(value));
  return JSON.stringify(value) ?? '';
}
