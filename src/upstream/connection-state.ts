import type { HubError, Timer } from '../base/index.ts';
import type { ServerState } from '../domain/index.ts';
import type { Via } from './chain.ts';
import type { Link } from './link.ts';
import type { StartPlace } from './start-queue.ts';

/** The state in a word; a live connection over which the server last said 401 or 403 has the refusal's. */
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

/** Where the connection to a server stands. */
export type ConnectionState =
  | { readonly kind: 'idle' }
  | {
      readonly kind: 'connecting';
      readonly link: Promise<Link>;
      readonly giveUp: AbortController;
      readonly start: StartPlace;
    }
  | { readonly kind: 'connected'; readonly link: Link; readonly via: Via; readonly since: number }
  | {
      readonly kind: 'waiting';
      readonly word: ServerState;
      readonly until: number;
      readonly error: HubError;
      /** Absent where nothing but a new request is worth an attempt. */
      readonly timer: Timer | undefined;
    }
  | { readonly kind: 'closed' };
