import type { Fleet } from '../domain/index.ts';
import { createRedactor, type Redactor } from '../vault/index.ts';

/** Sinks hold one redactor for life; each configuration may bring new secrets, and old ones stay secret. */
export interface Redaction {
  json(text: string): string;
  message(text: string, most?: number): string;
  /** What a server said, for errors and logs: cut at `longestSaying` characters. */
  said(text: string): string;
  learn(fleet: Secrets): void;
}

type Secrets = Pick<Fleet, 'secrets' | 'shortSecrets'>;

/** Servers say more only to flood. Above the bound of what is kept of a child's stderr, whose end matters most. */
const longestSaying = 32 * 1024;

/** Values of earlier configurations that are still hidden; a hub that lives for years forgets the oldest. */
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
    json: (text) => redactor().json(text),
    message: (text, most) => redactor().message(text, most),
    said: (text) => redactor().message(text, longestSaying),
    learn(fleet) {
      renew(secrets, fleet.secrets);
      renew(short, fleet.shortSecrets);
      current = undefined;
    },
  };
}

/** Those of today last: what stands first is forgotten first. */
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
