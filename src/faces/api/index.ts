export { issuedTokenBody, tokenSummaryBody } from './bodies.ts';
export {
  apiErrorSchema,
  type CommandOrigin,
  commandOrigins,
  eventSchema,
  healthSchema,
  type IssuedTokenBody,
  issuedTokenSchema,
  originHeader,
  problemSchema,
  type ServersBody,
  serversSchema,
  type TokenOrderBody,
  type TokenSummaryBody,
  tokenListSchema,
  tokenSummarySchema,
} from './contract.ts';
export { type ApiDeps, type ApiHandler, createApi } from './create-api.ts';
