import { join } from 'node:path';
import { gitStateOf } from '../connect/git-state.ts';
import type { CliContext } from '../context.ts';

/** Run files contain the arguments of calls, so git should not take them up. Undefined if it does not. */
export async function runFilesNote(cli: CliContext, workspace: string): Promise<string | undefined> {
  const file = join(workspace, '.runs', 'agents', 'run', 'mcp_calls.jsonl');
  if ((await gitStateOf(cli, workspace, file)) !== 'untracked') return undefined;
  return 'Git would track the files of runs, which contain the arguments of calls. Add the line `.runs/` to .gitignore.';
}
