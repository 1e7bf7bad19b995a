import { safeLine } from './printable.ts';

/**
 * JSON on one line, with every control character and every one that is not seen as an escape: JSON itself lets those after
 * DEL stand, and some terminals obey them.
 */
export function safeJson(value: unknown): string {
  return safeLine(JSON.stringify(value));
}
