export { sameSecret } from './agent-token.ts';
export {
  createTokenBook,
  type IssuedToken,
  type RecordedChange,
  type TokenBook,
  type TokenBookDeps,
  type TokenChangeFacts,
  type TokenSummary,
} from './token-book.ts';
export type { TokenIdentity } from './token-index.ts';
export type { TokenRequest } from './token-order.ts';
export type { StoredToken, TokenChange, TokenStore } from './token-store.ts';
export { parseTtl } from './ttl.ts';
