import { HubError } from '../../base/index.ts';

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Ten years. A longer time is probably a typing error. */
export const maxTtlMs: number = 3650 * 86_400_000;

/** `30d`, `12h`, `15m` or `90s` in milliseconds. */
export function parseTtl(text: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,10})([smhd])$/.exec(text) ?? [];
  const ms = Number(digits) * (unitMs[unit] ?? 0);
  if (ms > 0 && ms <= maxTtlMs) return ms;
  throw new HubError('USAGE', `"${text.slice(0, 40)}" is not a lifetime.`, {
    hint: 'Write a whole number and a unit, up to 3650d: 30d, 12h, 15m or 90s.',
  });
}
