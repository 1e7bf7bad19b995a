export { sameSecret } from './agent-token.ts';
export {
  createTokenBook,
  type IssuedToken,
  type TokenBook,
  type TokenBookDeps,
  type TokenOrder,
  type TokenSummary,
} from './token-book.ts';
export type { TokenIdentity } from './token-index.ts';
export type { StoredToken, TokenStore } from './token-store.ts';
export { parseTtl } from './ttl.ts';
