import { z } from 'zod';

const count = z.int().nonnegative();

const group = {
  agent: z.string(),
  server: z.string().nullable(),
  tool: z.string(),
  calls: count,
  call_id: z.string().describe('The first of them'),
};

/** `qm policy test` */
export const policyTestSchema = z.strictObject({
  calls: count.describe('Calls that were read'),
  same: count.describe('Calls that are decided as they were'),
  changed: count,
  unknown: count.describe('Calls that the record is not enough to decide on'),
  undecided: count.describe('Calls that no policy decided on, such as those of unknown tools'),
  unreadable: count.describe('Lines or records that are not calls'),
  changes: z.array(
    z.strictObject({
      ...group,
      before: z.string().describe('The recorded decision: allow, ask or deny'),
      after: z.enum(['allow', 'ask', 'deny']),
      rule: z.string().nullable().describe('The rule or setting that decides now; null where no rule matches'),
      rule_source: z.string().nullable().describe('Where it is written, as file:line'),
    }),
  ),
  unknowns: z.array(
    z.strictObject({
      ...group,
      why: z.enum(['arguments-cut', 'arguments-redacted', 'labels-unknown', 'server-invalid', 'tools-unknown']),
    }),
  ),
  more: count.describe('Changed or unknown calls that are in no group, because there are more than 1000 groups'),
});
