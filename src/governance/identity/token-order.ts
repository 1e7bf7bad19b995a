import { HubError } from '../../base/index.ts';
import { runIdPattern } from '../../domain/index.ts';
import { buildTokenIndex, emptyTokenIndex, maxDelegations, type TokenIdentity } from './token-index.ts';
import { agentNamePattern, type StoredToken } from './token-store.ts';
import { maxTtlMs } from './ttl.ts';

export interface TokenRequest {
  readonly agent: string;
  /** 30 days unless given, and never beyond the parent's expiry. */
  readonly ttlMs?: number | undefined;
  readonly run?: string | undefined;
  /** The id of the token that delegates. */
  readonly parent?: string | undefined;
}

const dayMs = 86_400_000;
const defaultTtlMs = 30 * dayMs;

/** Validates here as well as at the edge, because these names end up in files and rights. Returns the lifetime. */
export function checkOrder(order: TokenRequest): number {
  if (!agentNamePattern.test(order.agent)) {
    throw new HubError('USAGE', `"${order.agent.slice(0, 80)}" cannot be the name of an agent.`, {
      hint: 'Use 1 to 64 letters, digits, dots, dashes and underscores, starting with a letter or digit.',
    });
  }
  if (order.run !== undefined && !runIdPattern.test(order.run)) {
    throw new HubError('USAGE', `"${order.run.slice(0, 80)}" cannot be a run id.`, {
      hint: 'Use 1 to 64 letters, digits, dashes and underscores.',
    });
  }
  const ttlMs = order.ttlMs ?? defaultTtlMs;
  if (!Number.isSafeInteger(ttlMs) || ttlMs <= 0 || ttlMs > maxTtlMs) {
    throw new HubError('USAGE', 'The lifetime of a token must be between one millisecond and 3650 days.');
  }
  return ttlMs;
}

/** The row to store. A child expires with its parent at the latest. */
export function rowFor(
  order: TokenRequest,
  fresh: Pick<StoredToken, 'id' | 'hash' | 'created' | 'expires'>,
  stored: readonly StoredToken[],
): StoredToken {
  const { agent, parent, run } = order;
  if (stored.some((row) => row.id === fresh.id)) throw new HubError('INTERNAL', 'Two tokens drew the same id.');
  const limit = parent === undefined ? fresh.expires : parentOf(parent, stored, fresh.created).expires;
  return {
    ...fresh,
    agent,
    expires: Math.min(fresh.expires, limit),
    ...(parent === undefined ? {} : { parent }),
    ...(run === undefined ? {} : { run }),
  };
}

function parentOf(id: string, stored: readonly StoredToken[], now: number): TokenIdentity {
  const parent = buildTokenIndex(stored, emptyTokenIndex).byId.get(id);
  if (parent === undefined || parent.expires <= now) throw tokenUnknown(id);
  if (parent.chain.length >= maxDelegations) {
    throw new HubError('USAGE', `Token ${id} is already the ${maxDelegations}th in a row of delegations.`, {
      hint: 'Issue the token from one nearer to the start.',
    });
  }
  return parent;
}

export function tokenUnknown(id: string): HubError {
  return new HubError('TOKEN_UNKNOWN', `No valid token has the id "${id.slice(0, 40)}".`, {
    hint: 'Run `qm token ls` to see the tokens there are.',
  });
}
