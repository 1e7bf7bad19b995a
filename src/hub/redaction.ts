import type { Configuration } from '../domain/index.ts';
import { createRedactor, type Redactor } from '../vault/index.ts';

/** One redactor for all sinks. Each configuration may add secrets, and old ones stay hidden. */
export interface Redaction {
  json(text: string, most?: number): string;
  message(text: string, most?: number): string;
  /** A server's text for errors and logs, cut at `longestSaying` characters. */
  said(text: string): string;
  learn(configuration: Secrets): void;
}

type Secrets = Pick<Configuration, 'secrets' | 'shortSecrets'>;

/** Bounds floods. Higher than the limit of a child's stderr tail, because its end matters most. */
const longestSaying = 32 * 1024;

/** How many values of earlier configurations stay hidden. The oldest are dropped. */
export const mostOldSecrets = 1000;

export function createRedaction(first: Secrets): Redaction {
  const secrets = new Set(first.secrets);
  const short = new Set(first.shortSecrets);
  let current: Redactor | undefined;
  const redactor = (): Redactor => {
    current ??= createRedactor([...secrets], [...short]);
    return current;
  };
  return {
    json: (text, most) => redactor().json(text, most),
    message: (text, most) => redactor().message(text, most),
    said: (text) => redactor().message(text, longestSaying),
    learn(configuration) {
      renew(secrets, configuration.secrets);
      renew(short, configuration.shortSecrets);
      current = undefined;
    },
  };
}

/** Current values come last, because the first are dropped first. */
function renew(known: Set<string>, today: readonly string[]): void {
  for (const secret of today) {
    known.delete(secret);
    known.add(secret);
  }
  for (const oldest of known) {
    if (known.size <= today.length + mostOldSecrets) return;
    known.delete(oldest);
  }
}
