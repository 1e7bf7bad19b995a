import { stateHomeFor, type WorkspaceLayout, workspaceLayout } from '../../../storage/index.ts';
import type { CliContext } from '../context.ts';

/** Where the state of a workspace is kept. */
export function stateLayout({ env }: Pick<CliContext, 'env'>, workspace: string): WorkspaceLayout {
  return workspaceLayout(workspace, stateHomeFor(workspace, env));
}
