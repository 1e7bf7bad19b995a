import { type Permissions, type Problem, permissionsInForce } from '../../domain/index.ts';
import { toProblem } from '../findings.ts';
import type { FileContent } from '../readers/reader.ts';

/**
 * Chooses the environment if the configuration does not. Only the hub's own environment counts, not the `.env`: it belongs to
 * the operator, so a change of it needs no approval.
 */
export const environmentVariable = 'MAGSAG_ENVIRONMENT';

/** Undefined if there is no permissions file. */
export function collectPermissions(
  sources: readonly { readonly content: FileContent }[],
  env: Readonly<Record<string, string | undefined>>,
): Permissions | undefined {
  const rules = sources.flatMap(({ content }) => content.permissions ?? []);
  if (rules.length === 0) return undefined;
  const written = sources.map(({ content }) => content.environment).find((each) => each !== undefined);
  const given = Object.hasOwn(env, environmentVariable) ? env[environmentVariable] : undefined;
  return { written, environment: written ?? (given === '' ? undefined : given), rules };
}

/** Says where several environments apply at once, because that denies more than somebody may expect. */
export function environmentNotes(permissions: Permissions | undefined): readonly Problem[] {
  if (permissions === undefined) return [];
  const { environment } = permissions;
  const inForce = permissionsInForce(permissions);
  const files = new Set(inForce.map(({ source }) => source.file));
  return [...files].flatMap((file) => {
    const names = inForce.flatMap(({ source, environment: name }) =>
      source.file === file && name !== undefined ? [name] : [],
    );
    if (names.length < 2) return [];
    const chosen =
      environment === undefined ? 'No environment is chosen' : `It has no environment ${JSON.stringify(environment)}`;
    const line = inForce.find(({ source }) => source.file === file)?.source.line;
    return toProblem(file, {
      severity: 'note',
      line,
      field: 'environments',
      message: `${chosen}, so the strictest of ${names.join(', ')} applies to each tool.`,
      fix: `Write environment: NAME in quartermaster.yaml, or set ${environmentVariable} for the hub.`,
    });
  });
}
