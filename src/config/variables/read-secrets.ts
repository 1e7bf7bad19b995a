import { createHash } from 'node:crypto';
import { toHubError } from '../../base/index.ts';
import type { Problem } from '../../domain/index.ts';
import type { SecretValues } from './variables.ts';

export interface StoredSecrets {
  /** Undefined if the store cannot be read. */
  readonly values: ReadonlyMap<string, string> | undefined;
  readonly problems: readonly Problem[];
  /** Changes with the values. Never leaves the process. */
  readonly digest: string;
}

/** If the store cannot be read, nothing may start with values from elsewhere that were meant to be replaced. */
export async function readSecrets(source: SecretValues | undefined): Promise<StoredSecrets> {
  if (source === undefined) return { values: new Map(), problems: [], digest: '' };
  try {
    const values = await source.values();
    return { values, problems: [], digest: digestOf(values) };
  } catch (error) {
    const { message, hint } = toHubError(error);
    const problem: Problem = { severity: 'error', file: source.file, message, fatal: true };
    return {
      values: undefined,
      problems: [hint === undefined ? problem : { ...problem, fix: hint }],
      digest: 'unreadable',
    };
  }
}

function digestOf(values: ReadonlyMap<string, string>): string {
  return createHash('sha256')
    .update(JSON.stringify([...values].sort()))
    .digest('hex');
}
