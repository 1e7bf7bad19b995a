export { issuedTokenBody, tokenSummaryBody } from './bodies.ts';
export {
  apiErrorSchema,
  eventSchema,
  findingSchema,
  findingsSchema,
  healthSchema,
  type IssuedTokenBody,
  issuedTokenSchema,
  problemSchema,
  type ServersBody,
  serversSchema,
  type TokenOrderBody,
  type TokenSummaryBody,
  tokenListSchema,
  tokenSummarySchema,
} from './contract.ts';
export { type ApiDeps, type ApiHandler, createApi } from './create-api.ts';
