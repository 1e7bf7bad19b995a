import { safeLine } from './printable.ts';

/**
 * JSON on one line, with every control and invisible character escaped: JSON leaves those from
 * DEL on as they are, and some
 * terminals obey them.
 */
export function safeJson(value: unknown): string {
  return safeLine(JSON.stringify(value));
}
