import { z } from 'zod';

export const ruleEffects = ['allow', 'require-approval', 'deny'] as const;

/** Names of labels, in rules and at servers. */
export const labelPattern: RegExp = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

export const toolClasses = ['read', 'write', 'destructive'] as const;

const scalar = z.union([z.string(), z.number(), z.boolean()]);

/** A list of more clauses or values belongs in a server, not in a rule. */
const maxEntries = 1000;

const testShape = {
  glob: z.string().min(1).max(500).optional().describe('A text like docs/**: * and ? stop at /, ** does not.'),
  prefix: z.string().min(1).optional().describe('A text that begins so.'),
  regex: z.string().min(1).max(1000).optional().describe('A text in which this RE2 expression is found.'),
  min: z.number().optional().describe('A number that is at least this.'),
  max: z.number().optional().describe('A number that is at most this.'),
  in: z.array(scalar).min(1).max(maxEntries).optional().describe('One of these.'),
  inside: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe('A path in this folder, which is relative to the workspace. Links are followed for local file servers.'),
};

const tests = z.strictObject(testShape);

const list = z.array(scalar).min(1).max(maxEntries).describe('One of these.');

export const conditionSchema = z
  .union([
    scalar.describe('Equal to this.'),
    list,
    z.strictObject({ ...testShape, not: z.union([scalar, list, tests]).optional().describe('The opposite.') }),
  ])
  .describe('What the argument must be. All tests in a map must hold.');

export const clauseSchema = z
  .strictObject({
    effect: z.enum(ruleEffects).describe('What happens to a call that the clause applies to.'),
    when: z
      .record(z.string(), conditionSchema)
      .optional()
      .describe('Arguments with conditions, all of which must hold; a.b names a member, a.* every item of a list.'),
    after: z.string().regex(labelPattern).optional().describe('Applies only in runs with this label.'),
    kind: z.enum(toolClasses).optional().describe('Applies only to tools of this class.'),
    message: z.string().min(1).max(500).optional().describe('Shown to the agent, and to the person who is asked.'),
    approvers: z.array(z.string().min(1)).min(1).optional().describe('Who may approve. Default any operator.'),
  })
  .describe('A rule with conditions.');

export const ruleSchema = z
  .union([
    z.enum(ruleEffects).describe('What happens to a call of such a tool.'),
    clauseSchema,
    z.array(clauseSchema).min(1).max(100).describe('Clauses, of which the first that holds decides.'),
  ])
  // With an id, the JSON Schema has it once.
  .meta({ id: 'rule', description: 'An effect, a clause, or a list of clauses.' });

export type ClauseDocument = z.infer<typeof clauseSchema>;

export type ConditionDocument = z.infer<typeof conditionSchema>;
