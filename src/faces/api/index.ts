export { definitionsBody, issuedTokenBody, tokenSummaryBody } from './bodies.ts';
export {
  type AcceptOrderBody,
  apiErrorSchema,
  type DefinitionsBody,
  definitionChangeSchema,
  definitionsSchema,
  eventSchema,
  findingSchema,
  findingsSchema,
  healthSchema,
  type IssuedTokenBody,
  issuedTokenSchema,
  problemSchema,
  type ServerDefinitionsBody,
  type ServersBody,
  serversSchema,
  type TokenOrderBody,
  type TokenSummaryBody,
  tokenListSchema,
  tokenSummarySchema,
} from './contract.ts';
export { type ApiDeps, type ApiHandler, createApi } from './create-api.ts';
