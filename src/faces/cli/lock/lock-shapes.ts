import { z } from 'zod';
import { definitionChangeSchema } from '../../api/index.ts';

/** `qm lock` and `qm lock accept` */
export const lockSchema = z.strictObject({
  file: z.string(),
  existed: z.boolean().describe('false: changes are those since a hub first saw the definitions'),
  written: z.boolean().describe('false: it was as it should be, or nothing was to be written'),
  servers: z.array(
    z.strictObject({
      server: z.string(),
      listed: z.boolean().describe('false: the server did not answer, so its entry was not compared'),
      changes: z.array(
        definitionChangeSchema
          .extend({
            before: z.string().exactOptional().describe('The accepted text; absent if this hub never saw it'),
            after: z.string().exactOptional().describe('The text that the server lists'),
          })
          .strict(),
      ),
    }),
  ),
  waits: z.array(z.string()).describe('Servers whose earlier changes nobody approved; `qm trust` shows them'),
});

export type LockAnswer = z.infer<typeof lockSchema>;
