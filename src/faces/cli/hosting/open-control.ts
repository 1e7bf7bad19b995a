import { listenOnControlSocket, type WorkspaceLayout } from '../../../storage/index.ts';
import type { ApiHandler } from '../../api/index.ts';
import { createControl } from '../../control/index.ts';
import { strangerNote } from '../agents/agent-note.ts';
import type { CliContext } from '../context.ts';
import { controlOperations } from './control-operations.ts';
import type { LocalHub } from './local-hub.ts';
import { digestVariables } from './variable-digests.ts';

/** The control socket of a hub in this process. */
export interface ControlSocket {
  readonly path: string;
  /** Attached clients now. */
  clients(): number;
  drain(limitMs: number, replaced: boolean): Promise<void>;
  close(): Promise<void>;
}

export interface ControlSocketOptions {
  readonly api: ApiHandler;
  /** The hub is asked to end, because another one takes over or the operator wants it. */
  onLeave(why: 'replaced' | 'stopped'): void;
}

export async function openControl(
  cli: CliContext,
  { hub, logger }: LocalHub,
  layout: WorkspaceLayout,
  { api, onLeave }: ControlSocketOptions,
): Promise<ControlSocket> {
  const { clock, random, env } = cli;
  const control = createControl({
    hub,
    workspace: layout.workspace,
    clock,
    logger,
    random,
    operations: {
      ...controlOperations(cli, hub),
      async 'hand-over'() {
        onLeave('replaced');
        return { callsInFlight: hub.callsInFlight };
      },
      async stop() {
        onLeave('stopped');
        return { callsInFlight: hub.callsInFlight };
      },
    },
    api: (request, response) => api(request, response, () => {}),
    notesFor(agent) {
      const note = strangerNote(hub.configuration, agent);
      return note === undefined ? [] : [note];
    },
    variables: () => digestVariables(hub.configuration.environment, env, random),
  });
  const path = await listenOnControlSocket(control.server, layout, env);
  return { path, clients: () => control.clients, drain: control.drain, close: control.close };
}
