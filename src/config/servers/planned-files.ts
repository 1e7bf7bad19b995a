import { programFiles } from '../../base/index.ts';
import type { PlanFile, ServerSpec } from '../../domain/index.ts';

/** Files of the workspace that the server's programs run or are given, with their content. */
export async function plannedFiles(spec: ServerSpec, workspace: string): Promise<readonly PlanFile[]> {
  const files = new Map<string, PlanFile>();
  for (const transport of [spec.transport, ...spec.fallbacks]) {
    if (transport.type !== 'stdio') continue;
    for (const file of await programFiles(transport, workspace)) files.set(`${file.path} ${file.kind}`, file);
  }
  return [...files].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, file]) => file);
}
