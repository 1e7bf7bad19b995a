import { z } from 'zod';
import type { DefinitionKind, DefinitionPins } from '../../domain/index.ts';

/** In the workspace, next to the configuration. */
export const lockfileName = 'quartermaster.lock';

/** One server in the lockfile. */
export interface LockedServer extends DefinitionPins {
  /** Findings that somebody looked at, with the reason why they are fine: `tool:add hidden-instruction`. */
  readonly acknowledged: ReadonlyMap<string, string>;
}

/** The lockfile, by server name. */
export type Lockfile = ReadonlyMap<string, LockedServer>;

/** The name of each list in the file. */
export const lockedLists: Readonly<Record<DefinitionKind, 'tools' | 'prompts' | 'templates'>> = {
  tool: 'tools',
  prompt: 'prompts',
  template: 'templates',
};

const fingerprint = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/)
  .describe('The fingerprint of a definition.');

const fingerprints = z.record(z.string().min(1), fingerprint).optional();

/**
 * Strict, because a part that this version does not know could be a restriction. Further kinds of definitions come with a
 * higher version.
 */
export const lockfileSchema = z.strictObject({
  version: z.literal(1),
  servers: z.record(
    z.string().min(1),
    z.strictObject({
      instructions: fingerprint.optional(),
      tools: fingerprints,
      prompts: fingerprints,
      templates: fingerprints,
      acknowledged: z.record(z.string().min(1), z.string().min(1)).optional(),
    }),
  ),
});

/** The key that a parsed object could not hold. A definition of that name is never accepted. */
export function canBeLocked(name: string): boolean {
  return name !== '' && name !== '__proto__';
}
