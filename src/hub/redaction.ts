import type { Fleet } from '../domain/index.ts';
import { createRedactor } from '../vault/index.ts';

/** Sinks hold one redactor for life; each configuration may bring new secrets, and old ones stay secret. */
export interface Redaction {
  json(text: string): string;
  message(text: string): string;
  learn(fleet: Fleet): void;
}

export function createRedaction(first: Fleet): Redaction {
  const secrets = new Set(first.secrets);
  let current = createRedactor([...secrets]);
  return {
    json: (text) => current.json(text),
    message: (text) => current.message(text),
    learn(fleet) {
      for (const secret of fleet.secrets) secrets.add(secret);
      current = createRedactor([...secrets]);
    },
  };
}
