import { nodesOf, type SourceFile, walk } from './source-file.ts';

const maxParameters = 4;

/** How many functions of a file have more parameters than the bound. The list only shrinks. */
export const wideFunctions: Readonly<Record<string, number>> = {
  'src/apps/builtin/fetch/get-page.ts': 1,
  'src/apps/builtin/fetch/page-text.ts': 1,
  'src/base/errors.ts': 1,
  'src/config/check-node.ts': 1,
  'src/config/readers/clients/client-file.ts': 1,
  'src/config/restrictions/take-restrictions.ts': 1,
  'src/config/servers/resolve-server.ts': 1,
  'src/config/servers/transport-draft.ts': 1,
  'src/faces/cli/commands/configuring/add-command.ts': 1,
  'src/faces/cli/commands/call-command.ts': 1,
  'src/faces/cli/commands/doctor-command.ts': 1,
  'src/faces/mcp-http/requests/read-text.ts': 1,
  'src/governance/policy/unknown-names.ts': 1,
  'src/storage/files/write-file.ts': 1,
  'src/upstream/connecting/deadlines.ts': 1,
  'src/upstream/failures.ts': 1,
  'src/vault/credential-text.ts': 1,
};

/** Files with more such functions than the list allows, and entries that allow too many. */
export function unlistedWideFunctions(
  files: readonly SourceFile[],
  allowed: Readonly<Record<string, number>> = wideFunctions,
): readonly string[] {
  const counts = new Map(files.map((file) => [file.path, countWide(file)]));
  const paths = new Set([...counts.keys(), ...Object.keys(allowed)]);
  return [...paths].flatMap((path) => {
    const [found, listed] = [counts.get(path) ?? 0, allowed[path] ?? 0];
    if (found === listed) return [];
    return [`${path}: ${found} functions with over ${maxParameters} parameters, listed are ${listed}`];
  });
}

function countWide(file: SourceFile): number {
  let count = 0;
  walk(file.program, ({ type, params }) => {
    const isFunction = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type);
    if (isFunction && nodesOf(params).length > maxParameters) count++;
  });
  return count;
}
