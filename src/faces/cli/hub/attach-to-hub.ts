import { errnoOf, HubError } from '../../../base/index.ts';
import { checkControlSocket, readServeFile } from '../../../storage/index.ts';
import { type Attached, type AttachOrder, attachTo } from '../../attach/index.ts';
import type { CliContext } from '../context.ts';
import type { Invocation } from '../global-options.ts';
import { hubWords } from './hub-words.ts';
import { stateLayout } from './state-layout.ts';

/** Joins the hub that serves the workspace. Undefined if none does. Throws if one does but cannot be joined. */
export async function attachToHub(
  cli: Pick<CliContext, 'env' | 'clock'>,
  { workspace }: Pick<Invocation, 'workspace'>,
  order: Omit<AttachOrder, 'workspace'>,
): Promise<Attached | undefined> {
  const layout = stateLayout(cli, workspace);
  const found = await readServeFile(layout);
  if (found === undefined) return undefined;
  try {
    // A hub of an earlier version.
    if (found.controlSocket === undefined) throw new Error('it has no control socket');
    checkControlSocket(found.controlSocket);
    return await attachTo(found.controlSocket, { workspace: layout.workspace, ...order }, cli.clock);
  } catch (error) {
    if (error instanceof HubError) throw error;
    // It may have ended a moment ago.
    const now = await readServeFile(layout);
    if (now === undefined || now.pid !== found.pid) return undefined;
    const why = errnoOf(error) ?? (error instanceof Error ? error.message : String(error));
    throw new HubError('STATE_LOCKED', `The ${hubWords(found.url)} (process ${found.pid}) cannot be joined: ${why}.`, {
      hint: 'Restart that hub.',
      cause: error,
      details: { served: true },
    });
  }
}
