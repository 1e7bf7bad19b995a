import { z } from 'zod';
import { transportKinds } from '../../../domain/index.ts';

/** `qm trust`; with `--show`, nothing is changed. */
export const trustSchema = z.strictObject({
  digest: z.string().describe('Of everything on disk, for --digest and QM_TRUST'),
  asks: z.boolean().describe('false: the workspace is in a folder of trust.paths, where everything is trusted'),
  branch: z.string().nullable().describe('The branch of git; null without one. Approvals are kept with it'),
  items: z.array(
    z.strictObject({
      kind: z.enum(['server', 'policy']),
      name: z.string().nullable().describe('null for the policy'),
      state: z.enum(['approved', 'waiting', 'declined']),
      change: z
        .enum(['new', 'changed'])
        .nullable()
        .describe('Of an item that waits; changed: an earlier version is in force'),
      source: z.string().nullable().describe('File and line'),
      transports: z
        .array(z.strictObject({ type: z.enum(transportKinds), texts: z.array(z.tuple([z.string(), z.string()])) }))
        .describe('Fields as written, with variables unexpanded'),
      values: z.array(z.string()).describe('Variables whose values come from files of the workspace'),
      files: z
        .array(
          z.strictObject({
            path: z.string(),
            kind: z.enum(['file', 'large', 'link', 'absent']).describe('large: too large to be checked'),
            sha256: z.string().nullable(),
            target: z.string().nullable().describe('Of a link'),
          }),
        )
        .describe('Files of the workspace that it runs, and the links on the way to them'),
      reaches: z.array(z.string()).describe('Places with keys that allowPaths lets it reach'),
      runsWorkspaceCode: z.boolean(),
      changes: z.array(z.string()).describe('Lines that went (-) and came (+) since it was approved'),
    }),
  ),
});

export type TrustShown = z.infer<typeof trustSchema>;
