import type { Logger } from '../../../base/index.ts';
import type { CliContext } from '../context.ts';
import { printableLine } from './printable.ts';

export const cliLogLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

export type CliLogLevel = (typeof cliLogLevels)[number];

/** Logs events to stderr: short lines on a terminal, JSON otherwise. */
export function createLogger(cli: Pick<CliContext, 'terminal' | 'mask' | 'clock'>, level: CliLogLevel): Logger {
  const { terminal, mask, clock } = cli;
  const lowest = cliLogLevels.indexOf(level);

  function at(name: CliLogLevel): Logger['info'] {
    if (cliLogLevels.indexOf(name) < lowest) return () => {};
    return (event, fields = {}) => {
      const time = new Date(clock.now()).toISOString();
      const line = mask.json(JSON.stringify({ level: name, time, event, ...fields }, plainErrors));
      terminal.err(terminal.errIsTerminal ? shortLine(line, terminal) : line);
    };
  }

  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** An Error has no members that JSON prints. */
function plainErrors(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  return value instanceof Error ? value.message : value;
}

/** `12:03:04 warn upstream.lost server=files error="…"`, from the JSON line. */
export function shortLine(line: string, { errColours }: Pick<CliContext['terminal'], 'errColours'>): string {
  // Our own line was an object, and masking keeps it valid JSON.
  const { time, level, event, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const details = Object.entries(fields).map(([name, value]) => `${errColours.dim(`${name}=`)}${fieldText(value)}`);
  const paint = { warn: errColours.yellow, error: errColours.red }[String(level)] ?? errColours.dim;
  const clock = new Date(String(time)).toTimeString().slice(0, 8);
  return [errColours.dim(clock), paint(String(level).padEnd(5)), String(event), ...details].join(' ');
}

function fieldText(value: unknown): string {
  if (typeof value === 'string') return /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(printableLine(value));
  return JSON.stringify(value) ?? '';
}
