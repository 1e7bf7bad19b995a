import { z } from 'zod';
import { cacheSchema, limitsSchema, transportShape } from '../schema.ts';

const transport = z.strictObject(transportShape);
const toolNames = z.array(z.string());
const anything = z.unknown().optional();

/** One server as its own file: the flat form, the form with `transport`, and the output of `sync` for either. */
export const serverFileSchema = z.strictObject({
  id: z.string().min(1).optional(),
  server_id: z.string().min(1).optional(),
  version: anything,
  title: anything,
  tags: anything,
  description: z.string().optional(),
  notes: anything,
  metadata: anything,
  ...transportShape,
  // `mcp` is the kind of file. A transport type is accepted in the flat form.
  type: z.string().optional(),
  transport: transport.optional(),
  fallback: z.array(transport).optional(),
  scopes: z.array(z.string()).optional(),
  permissions: z
    .strictObject({
      scope: z.array(z.string()).optional(),
      write_requires_approval: z.boolean().optional(),
      tools: z.union([toolNames, z.record(z.string(), z.unknown())]).optional(),
      extra: anything,
    })
    .optional(),
  options: z
    .strictObject({ read_only: z.union([z.boolean(), z.string(), z.number(), z.null()]).optional() })
    .optional(),
  limits: limitsSchema.optional(),
  rate_limit: limitsSchema.shape.rate_limit,
  cache: cacheSchema.optional(),
  tools: toolNames.optional(),
  allowedTools: toolNames.optional(),
  enabled: z.boolean().optional(),
  disabled: z.boolean().optional(),
  instead: z.string().optional(),
  fallback_hint: z.string().optional(),
});

/** Ignoring a typo of one of these would allow more than intended. */
export const serverFileGuards = [
  ...['scope', 'scopes', 'permissions', 'write_requires_approval', 'options', 'read_only'],
  ...['limits', 'rate_per_min', 'tools', 'allowedTools', 'disabled'],
] as const;

export const serverFileKeys: ReadonlySet<string> = new Set(Object.keys(serverFileSchema.shape));
