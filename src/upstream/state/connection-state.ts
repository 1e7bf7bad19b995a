import type { HubError, Timer } from '../../base/index.ts';
import type { ServerState } from '../../domain/index.ts';
import type { Connection } from '../connecting/connection.ts';
import type { StartPlace } from '../connecting/start-queue.ts';
import type { Via } from '../connecting/transport-fallback.ts';

/** The state as one word. A live connection whose last answer was 401 or 403 has the refusal's state. */
export function wordOf(state: ConnectionState, refused: ServerState | undefined): ServerState {
  switch (state.kind) {
    case 'waiting':
      return state.word;
    case 'closed':
      return 'idle';
    case 'connected':
      return refused ?? state.kind;
    default:
      return state.kind;
  }
}

/** The state of the connection to a server. */
export type ConnectionState =
  | { readonly kind: 'idle' }
  | {
      readonly kind: 'connecting';
      readonly connection: Promise<Connection>;
      readonly giveUp: AbortController;
      readonly start: StartPlace;
    }
  | { readonly kind: 'connected'; readonly connection: Connection; readonly via: Via; readonly since: number }
  | {
      readonly kind: 'waiting';
      readonly word: ServerState;
      readonly until: number;
      readonly error: HubError;
      /** Absent if only a new request starts another attempt. */
      readonly timer: Timer | undefined;
    }
  | { readonly kind: 'closed' };
