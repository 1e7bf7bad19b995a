import type { HubError, Timer } from '../base/index.ts';
import type { ServerState } from '../domain/index.ts';
import type { Via } from './chain.ts';
import type { Link } from './link.ts';
import type { StartPlace } from './start-queue.ts';

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
