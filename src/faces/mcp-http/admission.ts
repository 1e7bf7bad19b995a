import type { Clock } from '../../base/index.ts';
import type { TokenBook, TokenIdentity } from '../../governance/index.ts';

/** Who an Authorization header proves. */
export interface Admission {
  identify(authorization: string | undefined): TokenIdentity | undefined;
  /** Any token changed: everything is checked anew. */
  forget(): void;
}

const maxRemembered = 1000;

/**
 * The same header comes with every request of an agent, so the last verdicts are kept. They hold
 * until a token expires or any token changes, never longer.
 */
export function createAdmission(tokens: TokenBook, clock: Clock): Admission {
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
