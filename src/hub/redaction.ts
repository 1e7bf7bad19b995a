import type { Configuration } from '../domain/index.ts';
import { createRedactor, type Redactor } from '../vault/index.ts';

/** One redactor for all sinks. Each configuration may add secrets, and old ones stay hidden. */
export interface Redaction {
  json(text: string, most?: number): string;
  message(text: string, most?: number): string;
  /** A server's text for errors and logs, cut at `longestSaying` characters. */
  said(text: string): string;
  /** One line of a longer output, where a secret with line breaks comes in pieces. Cut at `longestLine` characters. */
  line(text: string): string;
  learn(configuration: Secrets): void;
}

type Secrets = Pick<Configuration, 'secrets' | 'shortSecrets'>;

/** Bounds floods. Higher than the limit of a child's stderr tail, because its end matters most. */
const longestSaying = 32 * 1024;

const longestLine = 8 * 1024;

/** How many values of earlier configurations stay hidden. The oldest are dropped. */
export const mostOldSecrets = 1000;

export function createRedaction(first: Secrets): Redaction {
  const secrets = new Set(first.secrets);
  const short = new Set(first.shortSecrets);
  let current: Redactor | undefined;
  let currentLines: Redactor | undefined;
  const redactor = (): Redactor => {
    current ??= createRedactor([...secrets], [...short]);
    return current;
  };
  const lineRedactor = (): Redactor => {
    currentLines ??= createRedactor([...secrets].flatMap(withLines), [...short]);
    return currentLines;
  };
  return {
    json: (text, most) => redactor().json(text, most),
    message: (text, most) => redactor().message(text, most),
    said: (text) => redactor().message(text, longestSaying),
    line: (text) => lineRedactor().message(text, longestLine),
    learn(configuration) {
      renew(secrets, configuration.secrets);
      renew(short, configuration.shortSecrets);
      [current, currentLines] = [undefined, undefined];
    },
  };
}

function withLines(secret: string): string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  return lines.length === 1 ? [secret] : [secret, ...lines];
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
