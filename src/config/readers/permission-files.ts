import { checkNode } from '../check-node.ts';
import { parseYaml } from '../files/parse-yaml.ts';
import { isNull, type SourceNode, toPlain } from '../files/source-tree.ts';
import { type Finding, hasError } from '../findings.ts';
import { checkPermissions } from '../permissions/check-permissions.ts';
import { permissionRules } from '../permissions/permission-rules.ts';
import { permissionFileSchema } from '../permissions/permission-schema.ts';
import { nothingAllowed } from '../read-sections.ts';
import { denyEverything } from '../restrictions/read-policy.ts';
import { shellGrammar } from '../variables/interpolation.ts';
import { emptyContent, type FileOutcome, type Reader } from './reader.ts';

/** MAGSAG's permissions of tools. Both files count, and each only restricts. */
export const permissionFiles: readonly Reader[] = ['catalog/policies/mcp_permissions.yaml', 'mcp_permissions.yaml'].map(
  (file): Reader => ({
    place: { file },
    grammar: shellGrammar,
    workspaceNames: [],
    restricts: true,
    parse: parseYaml,
    read,
  }),
);

function read(root: SourceNode, file: string): FileOutcome {
  if (root.kind !== 'map') {
    const message = isNull(root) ? `${file} is empty.` : `${file} must contain a map.`;
    const fix = 'Write default_permission: REQUIRE_APPROVAL, or remove the file.';
    return { kind: 'refused', finding: { severity: 'error', line: root.line, message, fix } };
  }
  const options = { field: '', subject: 'Permissions', unknownKeys: 'error' } as const;
  const shape = checkNode(permissionFileSchema, root, options);
  const parsed = permissionFileSchema.safeParse(toPlain(root));
  const findings = parsed.success ? [...shape, ...checkPermissions(root, parsed.data)] : shape;
  if (!parsed.success || hasError(findings)) {
    const policy = denyEverything({ file, line: findings[0]?.line ?? root.line });
    return { kind: 'read', content: { ...emptyContent, policy, findings: findings.map(denying) } };
  }
  const document = parsed.data;
  const environments = Object.keys(document.environments ?? {});
  const permissions =
    environments.length === 0
      ? [permissionRules({ document, root, file })]
      : environments.map((environment) => permissionRules({ document, root, file }, environment));
  return { kind: 'read', content: { ...emptyContent, permissions, findings } };
}

function denying(finding: Finding): Finding {
  return finding.severity === 'error' ? { ...finding, message: `${finding.message} ${nothingAllowed}` } : finding;
}
