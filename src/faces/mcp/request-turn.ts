import { HubError } from '../../base/index.ts';
import type { Caller } from '../../domain/index.ts';
import {
  type ClientCapabilities,
  canonicalText,
  clientCapabilitiesOf,
  metaKeys,
  metaOf,
  type Params,
  type RequestStates,
  type StateClaims,
} from '../../mcp/index.ts';
import { type CallerRequest, operationOf, type Request } from './operations.ts';

/** One request of a modern client: the first of a call, or a later one that brings input. */
export interface ModernRequest extends CallerRequest {
  readonly meta: Params;
  readonly clientCapabilities: ClientCapabilities;
}

export type RequestStateClaims = Pick<StateClaims, 'kind' | 'value'>;

/** Throws HubError for a request that does not name its operation. */
export function modernRequestOf(caller: Caller, request: Request): ModernRequest {
  const operation = operationOf(request);
  const meta = metaOf(request.params) ?? {};
  const clientCapabilities = clientCapabilitiesOf(meta[metaKeys.clientCapabilities]);
  return { caller, request, operation, meta, clientCapabilities };
}

export function principalOf({ tokenId, chain }: Caller): string {
  return tokenId ?? chain.join('\0');
}

/** A `requestState` that is valid for the same request of the same principal alone. */
export function sealState(states: RequestStates, turn: ModernRequest, { kind, value }: RequestStateClaims): string {
  return states.seal({ principal: principalOf(turn.caller), subject: subjectOf(turn), kind, value });
}

/** The state that came with the request; throws HubError for one that the hub did not seal for it. */
export function openState(states: RequestStates, turn: ModernRequest): RequestStateClaims | undefined {
  const { requestState } = turn.request.params;
  if (requestState === undefined) return undefined;
  const state = states.open(requestState, { principal: principalOf(turn.caller), subject: () => subjectOf(turn) });
  if (state !== undefined) return state;
  throw new HubError('INVALID_PARAMS', 'This hub did not issue the requestState for this request, or it has expired.', {
    hint: 'Begin again, without requestState and inputResponses.',
  });
}

/** Computed only for requests with a state of this hub. The arguments count as written, like the bytes that are forwarded. */
function subjectOf({ request: { method }, operation: { name, argumentsText } }: ModernRequest): string {
  return `${method}\0${name}\0${canonicalText(argumentsText)}`;
}
