import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Clock, HubError, type Timer } from '../../base/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { TokenBook, TokenIdentity } from '../../governance/index.ts';
import type { Hub } from '../../hub/index.ts';
import { createAdmission } from './admission.ts';
import type { Exchange } from './exchange.ts';
import type { KnownHeaders } from './known-headers.ts';
import type { PlainRequest } from './plain-request.ts';
import { createRunHeaders } from './run-headers.ts';

/** Lets in whoever proves to be an agent, with each request anew. */
export interface Reception {
  /** Throws HubError for a request that proves nobody. */
  admit(request: PlainRequest, response: ServerResponse, headers: KnownHeaders): Exchange;
  /** Throws HubError where the token that let the request in has ended since. */
  checkStill(exchange: Exchange): void;
  /** What let somebody in would do so again. */
  isGood(authorization: string | undefined): boolean;
  /** Whether the token of this id still lets somebody in. */
  isOwner(tokenId: string): boolean;
  /** Any token changed: whoever stays for long proves again that it may. */
  onChange(listener: () => void): () => void;
  close(): void;
}

export interface ReceptionDeps {
  readonly hub: Hub;
  readonly tokens: TokenBook;
  readonly clock: Clock;
  readonly connections: ConnectionProofs;
}

/** Hears what each request says of its connection. */
export interface ConnectionProofs {
  /** Throws HubError when the owner of the token has too many. */
  prove(socket: Socket, owner: string): void;
  unprove(socket: Socket): void;
}

export function createReception({ hub, tokens, clock, connections }: ReceptionDeps): Reception {
  const admission = createAdmission(tokens, clock);
  const callers = new WeakMap<TokenIdentity, Caller>();
  const runs = createRunHeaders({ clock });
  const listeners = new Set<() => void>();
  let expiry: Timer | undefined;
  const forgetTokens = tokens.onChange(renew);
  armExpiry();

  /** A token ended: so do its streams, and its calls under way. */
  function renew(): void {
    admission.forget();
    runs.keep(tokens.isValid);
    for (const listener of listeners) listener();
    hub.cancelCalls(({ tokenId }) => tokenId !== undefined && !tokens.isValid(tokenId));
    armExpiry();
  }

  /** Looked at again within a day: timers do not reach as far as tokens. */
  function armExpiry(): void {
    expiry?.cancel();
    const next = tokens.nextExpiry();
    expiry = next === undefined ? undefined : clock.setTimer(Math.min(next - clock.now(), longestTimerMs), renew);
  }

  function callerOf(identity: TokenIdentity, run: string | undefined): Caller {
    // A token that was issued for a run is used for nothing else, whatever the header says.
    if (run !== undefined && identity.run === undefined) {
      runs.check(identity.tokenId, run);
      return hub.callerFor({ ...identity, run });
    }
    let caller = callers.get(identity);
    if (caller === undefined) {
      caller = hub.callerFor(identity);
      callers.set(identity, caller);
    }
    return caller;
  }

  return {
    admit(request, response, headers) {
      const { authorization, accept } = headers;
      const identity = admission.identify(authorization);
      if (identity === undefined) {
        connections.unprove(request.socket);
        throw unauthenticated(authorization !== undefined);
      }
      connections.prove(request.socket, identity.tokenId);
      return {
        request,
        response,
        headers,
        caller: callerOf(identity, headers['x-quartermaster-run']),
        owner: identity.tokenId,
        acceptsStream: accept === undefined || accept.includes('text/event-stream') || accept.includes('*/*'),
        since: 0,
        list: undefined,
        before: undefined,
        after: undefined,
        growing: undefined,
      };
    },
    checkStill({ owner }) {
      if (!tokens.isValid(owner)) throw unauthenticated(true);
    },
    isGood: (authorization) => admission.identify(authorization) !== undefined,
    isOwner: (tokenId) => tokens.isValid(tokenId),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      expiry?.cancel();
      forgetTokens();
    },
  };
}

const longestTimerMs = 86_400_000;

function unauthenticated(sentSomething: boolean): HubError {
  const what = sentSomething ? 'The token is not valid, has expired or was revoked.' : 'A token is missing.';
  return new HubError('UNAUTHENTICATED', what, {
    hint: 'Send "Authorization: Bearer <token>"; an operator gets one with `qm token issue --agent NAME`.',
  });
}
