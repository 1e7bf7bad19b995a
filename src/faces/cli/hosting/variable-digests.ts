import { createHmac } from 'node:crypto';
import type { RandomBytes } from '../../../base/index.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Values that two processes compare without telling them. */
export interface VariableDigests {
  readonly salt: string;
  /** Null for a variable that is not set. */
  readonly digests: Readonly<Record<string, string | null>>;
}

const maxVariables = 200;

export function digestVariables(names: readonly string[], env: Env, random: RandomBytes): VariableDigests {
  const salt = random(16).toString('hex');
  const rows = names.slice(0, maxVariables).map((name) => [name, digestOf(salt, env[name])] as const);
  return { salt, digests: Object.fromEntries(rows) };
}

/** What a person should know whose variables are not those of the hub. */
export function variableNotes({ salt, digests }: VariableDigests, env: Env): string[] {
  const lacks: string[] = [];
  const differs: string[] = [];
  for (const [name, digest] of Object.entries(digests)) {
    const own = digestOf(salt, env[name]);
    if (own === null || own === digest) continue;
    (digest === null ? lacks : differs).push(name);
  }
  return [
    ...(lacks.length === 0
      ? []
      : [`The running hub does not have ${lacks.join(', ')}, which is set here. ${remedy(lacks)}`]),
    ...(differs.length === 0
      ? []
      : [`The running hub has another value of ${differs.join(', ')} than is set here. ${remedy(differs)}`]),
  ];
}

function remedy(names: readonly string[]): string {
  return `Store it with \`qm secret set --from-env ${names.join(' ')}\`, or run \`qm stop\` and try again.`;
}

function digestOf(salt: string, value: string | undefined): string | null {
  return value === undefined ? null : createHmac('sha256', salt).update(value).digest('hex');
}
