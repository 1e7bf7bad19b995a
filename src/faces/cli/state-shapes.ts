import { z } from 'zod';

/** `qm state path` */
export const statePathSchema = z.strictObject({
  folder: z.string().describe('The state of this workspace'),
  home: z.string().describe('The state of all workspaces'),
  workspace: z.string().describe('The real path of the workspace'),
});
export type StatePath = z.infer<typeof statePathSchema>;

/** `qm state migrate` */
export const stateMigratedSchema = z.strictObject({
  tokens: z.number().describe('The number of tokens that are valid again'),
});
export type StateMigrated = z.infer<typeof stateMigratedSchema>;

/** `qm state move` */
export const stateMovedSchema = z.strictObject({
  from: z.string().describe('The path that the workspace had before'),
  folder: z.string(),
});
export type StateMoved = z.infer<typeof stateMovedSchema>;

/** `qm state prune` */
export const statePrunedSchema = z.strictObject({
  removed: z.array(z.strictObject({ folder: z.string(), workspace: z.string() })),
});
export type StatePruned = z.infer<typeof statePrunedSchema>;

/** `qm state backup` */
export const stateBackupSchema = z.strictObject({ file: z.string(), bytes: z.number() });
export type StateBackup = z.infer<typeof stateBackupSchema>;

/** `qm state restore` */
export const stateRestoredSchema = z.strictObject({
  folder: z.string(),
  files: z.number(),
  before: z.string().describe('The folder in it with the previous state'),
});
export type StateRestored = z.infer<typeof stateRestoredSchema>;

const hubSchema = z
  .strictObject({ url: z.string(), applied: z.boolean() })
  .nullable()
  .describe('The running hub, and whether it uses the change; null if none runs');

const keyPlaceSchema = z.enum(['keychain', 'file']).describe('Where the key of the stored secrets is');

/** `qm secret set` */
export const secretSetSchema = z.strictObject({
  secrets: z.array(z.strictObject({ name: z.string(), result: z.enum(['added', 'replaced']) })),
  hub: hubSchema,
});
export type SecretSet = z.infer<typeof secretSetSchema>;

/** `qm secret ls` */
export const secretListSchema = z.strictObject({
  key: keyPlaceSchema.nullable().describe('Where the key of the stored secrets is; null if there is none yet'),
  secrets: z.array(
    z.strictObject({
      name: z.string(),
      created: z.iso.datetime(),
      updated: z.iso.datetime(),
      servers: z.array(z.string()).describe('Servers whose configuration refers to it; empty if it is unused'),
    }),
  ),
});
export type SecretList = z.infer<typeof secretListSchema>;

/** `qm secret rm` */
export const secretRemovedSchema = z.strictObject({
  name: z.string(),
  removed: z.literal(true),
  servers: z.array(z.string()).describe('Servers whose configuration still refers to it'),
  hub: hubSchema,
});
export type SecretRemoved = z.infer<typeof secretRemovedSchema>;

/** `qm secret move` */
export const secretMovedSchema = z.strictObject({
  moved: z.array(
    z.strictObject({
      server: z.string(),
      field: z.string(),
      file: z.string(),
      line: z.number(),
      name: z.string().describe('The secret that has the value now'),
      left: z.array(z.number()).describe('Lines of the file that still contain the value'),
    }),
  ),
  hub: hubSchema,
});
export type SecretMoved = z.infer<typeof secretMovedSchema>;

/** `qm secret rotate` */
export const secretRotatedSchema = z.strictObject({
  secrets: z.number().describe('How many were sealed again'),
  key: keyPlaceSchema.nullable().describe('Where the new key is; null if there was nothing to seal'),
  left: z.string().nullable().describe('Why an earlier key could not be removed'),
});
export type SecretRotated = z.infer<typeof secretRotatedSchema>;
