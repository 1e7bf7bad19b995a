import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Clock, HubError } from '../../base/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { TokenBook, TokenIdentity } from '../../governance/index.ts';
import type { Hub } from '../../hub/index.ts';
import { type ByteLimits, type ClientBudgets, type ClientBytes, createClientBudgets } from './client-bytes.ts';
import type { Exchange } from './exchange.ts';
import type { KnownHeaders } from './requests/known-headers.ts';
import type { PlainRequest } from './requests/plain-request.ts';
import { createRunHeaders, type RunHeaders } from './requests/run-headers.ts';
import { createTokenCache, type TokenCache } from './token-cache.ts';
import { TokenExpiry } from './token-expiry.ts';

export interface AuthenticatorDeps {
  readonly hub: Hub;
  readonly tokens: TokenBook;
  readonly clock: Clock;
  readonly connections: ConnectionProofs;
  /** How much the hub holds for the clients of an agent. */
  readonly byteLimits?: ByteLimits | undefined;
}

/** Learns from each request whose connection it is. */
export interface ConnectionProofs {
  /** Throws HubError when the owner, an agent, has too many. */
  markAuthenticated(socket: Socket, owner: string): void;
  markUnauthenticated(socket: Socket): void;
}

/** Looked up once for each identity in the token cache. */
interface KnownToken {
  readonly caller: Caller;
  readonly bytes: ClientBytes;
}

/** Turns the token of each request into its caller. Sessions carry no rights, so every request is authenticated. */
export class Authenticator {
  readonly #hub: Hub;
  readonly #tokens: TokenBook;
  readonly #connections: ConnectionProofs;
  readonly #tokenCache: TokenCache;
  readonly #budgets: ClientBudgets;
  readonly #known = new WeakMap<TokenIdentity, KnownToken>();
  readonly #runs: RunHeaders;
  readonly #expiry: TokenExpiry;
  readonly #listeners = new Set<() => void>();
  readonly #stopTokens: () => void;

  constructor({ hub, tokens, clock, connections, byteLimits }: AuthenticatorDeps) {
    this.#hub = hub;
    this.#tokens = tokens;
    this.#connections = connections;
    this.#tokenCache = createTokenCache(tokens, clock);
    this.#budgets = createClientBudgets(byteLimits);
    this.#runs = createRunHeaders({ clock });
    this.#expiry = new TokenExpiry({ tokens, clock }, () => this.#tokensChanged());
    this.#stopTokens = tokens.onTokensChange(() => this.#tokensChanged());
    this.#expiry.arm();
    this.#keepShares();
  }

  /** Throws HubError for a request without a valid token. */
  authenticate(request: PlainRequest, response: ServerResponse, headers: KnownHeaders): Exchange {
    const { authorization, accept } = headers;
    const identity = this.#tokenCache.identify(authorization);
    if (identity === undefined) {
      this.#connections.markUnauthenticated(request.socket);
      throw unauthenticated(authorization !== undefined);
    }
    this.#connections.markAuthenticated(request.socket, identity.agent);
    const token = this.#knownToken(identity);
    request.bytes = token.bytes;
    return {
      request,
      response,
      headers,
      caller: this.#callerOf(identity, token, headers['x-quartermaster-run']),
      owner: identity.tokenId,
      acceptsStream: accept === undefined || accept.includes('text/event-stream') || accept.includes('*/*'),
      since: 0,
      list: undefined,
      before: undefined,
      after: undefined,
      growing: undefined,
    };
  }

  /** Throws HubError if the token of the request has expired or was revoked since. */
  recheckToken({ owner }: Exchange): void {
    if (!this.#tokens.isValid(owner)) throw unauthenticated(true);
  }

  /** Whether this header would authenticate a request now. */
  isGood(authorization: string | undefined): boolean {
    return this.#tokenCache.identify(authorization) !== undefined;
  }

  /** Whether the token with this id is still valid. */
  isOwner(tokenId: string): boolean {
    return this.#tokens.isValid(tokenId);
  }

  /** Some token changed, so streams must be checked again. */
  onTokensChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#expiry.close();
    this.#stopTokens();
  }

  /** When a token ends, so do its streams and its calls in flight. */
  #tokensChanged(): void {
    const isValid = (tokenId: string): boolean => this.#tokens.isValid(tokenId);
    this.#tokenCache.forget();
    this.#runs.keep(isValid);
    this.#keepShares();
    for (const listener of this.#listeners) listener();
    this.#hub.cancelCalls(({ tokenId }) => tokenId !== undefined && !isValid(tokenId));
    this.#expiry.arm();
  }

  /** An agent with a token has its share of a server before it calls. */
  #keepShares(): void {
    const valid = this.#tokens.list().filter(({ state }) => state === 'valid');
    this.#hub.keepShares(new Set(valid.map(({ agent }) => agent)));
  }

  #knownToken(identity: TokenIdentity): KnownToken {
    const before = this.#known.get(identity);
    if (before !== undefined) return before;
    const bytes = this.#budgets.of(this.#hub.callerFor(identity).account ?? identity);
    const token = { caller: this.#hub.callerFor({ ...identity, answers: bytes.answers }), bytes };
    this.#known.set(identity, token);
    return token;
  }

  #callerOf(identity: TokenIdentity, { caller, bytes }: KnownToken, run: string | undefined): Caller {
    // A token that was issued for a run is valid for that run alone, whatever the header says.
    if (run === undefined || identity.run !== undefined) return caller;
    this.#runs.check(identity.tokenId, run);
    return this.#hub.callerFor({ ...identity, run, answers: bytes.answers });
  }
}

function unauthenticated(sentSomething: boolean): HubError {
  const what = sentSomething ? 'The token is not valid, has expired or was revoked.' : 'A token is missing.';
  return new HubError('UNAUTHENTICATED', what, {
    hint: 'Send "Authorization: Bearer <token>"; an operator gets one with `qm token issue --agent NAME`.',
  });
}
