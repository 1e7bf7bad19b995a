import { z } from 'zod';
import type { ToolAnnotations } from '../../serving/index.ts';

/** All git tools only read, and only the repository. */
export const lookingOnly: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** One line of limited length, since it becomes a program argument. */
function line(most: number): z.ZodString {
  return z
    .string()
    .min(1)
    .max(most)
    .refine((text) => !['\0', '\n', '\r'].some((each) => text.includes(each)), 'It must be one line, without a NUL.');
}

export const refArgument = line(500);

export const pathArgument = z
  .string()
  .min(1)
  .max(4_000)
  .refine((path) => !path.includes('\0'), 'It must not contain a NUL.')
  .describe('A file or folder, relative to the top folder of the repository. Not a pattern.');

export const queryArgument = line(1_000);

export const authorArgument = line(200).describe("Part of the author's name or email address.");

export const dateArgument = line(100).describe('A date such as 2026-03-31, or "2 weeks ago".');

export const statArgument = z.boolean().describe('Show only the changed files and the number of lines.');

export function limitArgument(most: number, otherwise: number): z.ZodDefault<z.ZodInt> {
  return z.int().min(1).max(most).default(otherwise);
}
