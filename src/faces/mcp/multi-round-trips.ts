import { HubError, isJsonObject, toHubError } from '../../base/index.ts';
import { type CallResult, type CallsAwaitingInput, MultiRoundTrip } from '../../calls/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import {
  declaresTasks,
  errorReply,
  logLevels,
  metaKeys,
  metaOf,
  type RequestHeaders,
  resultReply,
} from '../../mcp/index.ts';
import { holdBytes } from './held-requests.ts';
import { clientNameOf } from './list-timeout.ts';
import { inputRequired, modernAnswer } from './modern-answer.ts';
import { type ClientHandlers, channelOf, type Request, startOperation } from './operations.ts';
import { type ModernRequest, modernRequestOf, openState, principalOf, sealState } from './request-turn.ts';
import { answerMs } from './server-requests.ts';

export interface RoundTripRequest {
  readonly answer: Promise<RoundTripAnswer>;
  /** The client no longer waits for the answer. */
  cancel(reason: string): void;
}

export interface RoundTripAnswer {
  readonly text: string;
  readonly outcome: CallResult | undefined;
}

/** How many calls may wait for input, and for how long. */
export const awaitingInputLimits = { lifeMs: answerMs, max: 1000, maxPerPrincipal: 32 };

/** What carries a request and its answer. */
export interface RequestCarrier extends Pick<ClientHandlers, 'between'> {
  /** HTTP headers, which repeat arguments of some tools. */
  readonly headers?: RequestHeaders | undefined;
}

export interface MultiRoundTripsDeps {
  readonly hub: Hub;
  readonly awaitingInput: CallsAwaitingInput;
}

/** Operations of modern clients. A request of a server becomes the answer, and the client calls again with its input. */
export class MultiRoundTrips {
  readonly #hub: Hub;
  readonly #awaitingInput: CallsAwaitingInput;

  constructor({ hub, awaitingInput }: MultiRoundTripsDeps) {
    this.#hub = hub;
    this.#awaitingInput = awaitingInput;
  }

  /** Throws HubError for a request that cannot begin. */
  begin(caller: Caller, request: Request, carrier: RequestCarrier): RoundTripRequest {
    const turn = modernRequestOf(caller, request);
    if (turn.clientCapabilities.nothing && request.params.requestState === undefined) {
      return this.#callOnce(turn, carrier);
    }
    const state = openState(this.#hub.requestStates, turn);
    const isInput = state?.kind === 'awaiting-input';
    // The call that waits has counted its first message, and not this one.
    const release = holdBytes(caller, isInput ? request.heldBytes : 0);
    const roundTrip = isInput ? this.#awaitingInput.take(state.value, principalOf(caller)) : new MultiRoundTrip();
    if (roundTrip === undefined) {
      release();
      throw notWaiting();
    }
    const ask = turn.clientCapabilities.nothing ? undefined : roundTrip.ask;
    const handlers = handlersOf(turn, carrier, ask);
    if (isInput) resume(roundTrip, request, handlers);
    else {
      const inputs = state?.kind === 'again' ? '' : inputsText(request, state?.value);
      roundTrip.begin(startOperation(this.#hub, turn, handlers, { inputs }));
    }
    const answer = this.#answer(roundTrip, turn).finally(release);
    return { answer, cancel: (reason) => roundTrip.abandon(reason) };
  }

  /** Nearly every client can answer no server request, so its call needs no state. */
  #callOnce(turn: ModernRequest, carrier: RequestCarrier): RoundTripRequest {
    const handlers = handlersOf(turn, carrier, undefined);
    const inputs = inputsText(turn.request, undefined);
    const { call, result } = startOperation(this.#hub, turn, handlers, { inputs });
    return {
      answer: result.then((outcome) => this.#lastAnswer(turn, outcome)),
      cancel: (reason) => call.cancel(reason),
    };
  }

  async #answer(roundTrip: MultiRoundTrip, turn: ModernRequest): Promise<RoundTripAnswer> {
    const { idText } = turn.request;
    const next = await roundTrip.next();
    if (next.kind !== 'asked') return this.#lastAnswer(turn, next.result);
    try {
      const value = this.#awaitingInput.add(roundTrip, principalOf(turn.caller));
      const requestState = sealState(this.#hub.requestStates, turn, { kind: 'awaiting-input', value });
      // Progress and logs have nowhere to go until the client calls again; server requests wait for that.
      roundTrip.call?.attach({ ask: roundTrip.ask });
      return { text: resultReply(idText, inputRequired(next.inputRequests, requestState)), outcome: undefined };
    } catch (error) {
      roundTrip.abandon('there is no room for another call that waits');
      return { text: errorReply(idText, toHubError(error)), outcome: undefined };
    }
  }

  #lastAnswer(turn: ModernRequest, outcome: CallResult): RoundTripAnswer {
    return { text: modernAnswer(this.#hub.requestStates, turn, outcome), outcome };
  }
}

function handlersOf(
  { caller, clientCapabilities, meta }: ModernRequest,
  { between, headers }: RequestCarrier,
  ask: ClientHandlers['ask'],
): ClientHandlers {
  return {
    client: {
      principal: principalOf(caller),
      session: undefined,
      name: clientNameOf(meta[metaKeys.clientInfo]),
      clientCapabilities,
      takesInputRequired: true,
      takesTasks: declaresTasks(meta[metaKeys.clientCapabilities]),
      headers,
    },
    between,
    ask,
    log: requestedLog(meta[metaKeys.logLevel]),
  };
}

/** The call goes on with the client's input; messages of the call belong to this request from now on. */
function resume(roundTrip: MultiRoundTrip, { params }: Request, handlers: ClientHandlers): void {
  roundTrip.call?.attach(channelOf(params, { ...handlers, ask: roundTrip.ask }) ?? {});
  roundTrip.answer(isJsonObject(params.inputResponses) ? params.inputResponses : {});
}

function inputsText({ inputsText: responses }: Request, requestState: string | undefined): string {
  if (responses === undefined && requestState === undefined) return '';
  const parts = [
    ...(responses === undefined ? [] : [`"inputResponses":${responses}`]),
    ...(requestState === undefined ? [] : [`"requestState":${JSON.stringify(requestState)}`]),
  ];
  return parts.join(',');
}

/** Whether the client may get messages before the answer: progress, logs or server requests. */
export function mayReceiveMessages({ params }: Request): boolean {
  const meta = metaOf(params);
  if (meta === undefined) return false;
  const capabilities = meta[metaKeys.clientCapabilities];
  return (
    meta.progressToken !== undefined ||
    meta[metaKeys.logLevel] !== undefined ||
    (isJsonObject(capabilities) && Object.keys(capabilities).length > 0)
  );
}

function requestedLog(level: unknown): ClientHandlers['log'] {
  return typeof level === 'string' && logLevels.includes(level) ? { level } : undefined;
}

function notWaiting(): HubError {
  return new HubError('INVALID_PARAMS', 'The call that requested this input is no longer waiting.', {
    hint: 'Begin again, without requestState and inputResponses.',
  });
}
