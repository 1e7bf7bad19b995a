import { z } from 'zod';
import type { RuleEffect } from '../../domain/index.ts';

/** MAGSAG reads them in both. */
const permission = z.enum(['ALWAYS', 'REQUIRE_APPROVAL', 'NEVER', 'always', 'require_approval', 'never']);

const text = z.string().optional();

const toolName = z.string().max(200);

const argument = z.union([
  z.string().max(500),
  z.number(),
  z.boolean(),
  z.strictObject({ less_than: z.number().optional(), greater_than: z.number().optional() }),
]);

const rate = z.strictObject({
  calls_per_minute: z.int().min(1).max(1_000_000).optional(),
  calls_per_hour: z.int().min(1).max(1_000_000).optional(),
});

const contextRule = z.strictObject({
  name: text,
  description: text,
  condition: z.strictObject({
    tool: toolName.optional(),
    tool_pattern: toolName.optional(),
    args_match: z.record(z.string(), argument).optional(),
  }),
  permission,
});

/** MAGSAG's `mcp_permissions.yaml`. A key that is not understood may restrict, so there must be none. */
export const permissionFileSchema = z.strictObject({
  version: z.union([z.string(), z.number()]).optional(),
  description: text,
  default_permission: permission.optional(),
  server_defaults: z
    .record(z.string(), z.union([permission, z.strictObject({ default: permission, description: text })]))
    .optional(),
  tools: z
    .record(
      toolName,
      z.union([
        permission,
        z.strictObject({ permission, description: text, approval_message: z.string().max(500).optional() }),
      ]),
    )
    .optional(),
  environments: z
    .record(
      z.string(),
      z.strictObject({
        description: text,
        default_permission: permission.optional(),
        overrides: z.record(toolName, permission).optional(),
      }),
    )
    .optional(),
  context_rules: z.array(contextRule).max(1000).optional(),
  dangerous_patterns: z
    .array(z.strictObject({ pattern: toolName, permission, description: text }))
    .max(1000)
    .optional(),
  rate_limits: z.strictObject({ global: rate.optional(), servers: z.record(z.string(), rate).optional() }).optional(),
  approval: z.unknown().optional(),
  audit: z.unknown().optional(),
});

export type ArgumentMatch = z.infer<typeof argument>;
export type PermissionDocument = z.infer<typeof permissionFileSchema>;

/** The schema lets no other text through. */
export function effectOfPermission(written: string): RuleEffect {
  const lower = written.toLowerCase();
  if (lower === 'always') return 'allow';
  return lower === 'require_approval' ? 'require-approval' : 'deny';
}
