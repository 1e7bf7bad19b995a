import { z } from 'zod';
import type { ToolAnnotations } from '../../serving/index.ts';

/** What all of these tools are: they look, and at nothing but the repository. */
export const lookingOnly: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** One line, no longer than a program's argument may be. */
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
  .refine((path) => !path.includes('\0'), 'It must not hold a NUL.')
  .describe('A file or folder, relative to the top of the repository. No patterns.');

export const queryArgument = line(1_000);

export const authorArgument = line(200).describe('A part of the name or address of the author.');

export const dateArgument = line(100).describe('A date such as 2026-03-31, or "2 weeks ago".');

export const statArgument = z.boolean().describe('Only which files changed and by how many lines.');

export function limitArgument(most: number, otherwise: number): z.ZodDefault<z.ZodInt> {
  return z.int().min(1).max(most).default(otherwise);
}
