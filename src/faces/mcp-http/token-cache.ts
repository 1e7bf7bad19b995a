import type { Clock } from '../../base/index.ts';
import type { TokenBook, TokenIdentity } from '../../governance/index.ts';

/** Identifies the token in an Authorization header. */
export interface TokenCache {
  identify(authorization: string | undefined): TokenIdentity | undefined;
  /** Some token changed, so every header is checked again. */
  forget(): void;
}

const maxRemembered = 1000;

/**
 * Every request of an agent has the same header, so identities are cached until their token expires or any token
 * changes.
 */
export function createTokenCache(tokens: TokenBook, clock: Clock): TokenCache {
  const known = new Map<string, TokenIdentity>();

  function check(authorization: string): TokenIdentity | undefined {
    const token = authorization.length > 300 ? undefined : /^bearer +(\S+)$/i.exec(authorization)?.[1];
    const identity = token === undefined ? undefined : tokens.authenticate(token);
    if (identity === undefined) return undefined;
    if (known.size >= maxRemembered) known.clear();
    known.set(authorization, identity);
    return identity;
  }

  return {
    identify(authorization) {
      if (authorization === undefined) return undefined;
      const identity = known.get(authorization);
      if (identity === undefined) return check(authorization);
      if (identity.expires > clock.now()) return identity;
      known.delete(authorization);
      return undefined;
    },
    forget: () => known.clear(),
  };
}
