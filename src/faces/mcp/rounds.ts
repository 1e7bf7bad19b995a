import { HubError, isJsonObject, toHubError } from '../../base/index.ts';
import { type CallResult, Dialogue, type ParkedCalls } from '../../calls/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import {
  type Askable,
  askableOf,
  canonicalJson,
  declaresTasks,
  errorReply,
  logLevels,
  metaKeys,
  metaOf,
  modernQuestion,
  type Params,
  resultReply,
  type StateClaims,
  withMembers,
} from '../../mcp/index.ts';
import { operationAnswer } from './answer-text.ts';
import { type Attendant, channelOf, type Operation, operationOf, type Request, startOperation } from './operations.ts';
import { answerMs } from './questions.ts';

/** Operations of modern clients: whatever a server asks becomes the answer, and the client comes again. */
export interface Rounds {
  /** Throws HubError for what cannot begin. */
  begin(caller: Caller, request: Request, between: ((message: string) => void) | undefined): Round;
}

export interface Round {
  readonly answer: Promise<RoundAnswer>;
  /** The client gave up before the answer. */
  cancel(reason: string): void;
}

export interface RoundAnswer {
  readonly text: string;
  readonly outcome: CallResult | undefined;
}

/** How many calls may wait for their callers, and how long. */
export const parkedLimits = { lifeMs: answerMs, max: 1000, maxPerPrincipal: 32 };

export function createRounds({ hub, parked }: { readonly hub: Hub; readonly parked: ParkedCalls }): Rounds {
  function begin(caller: Caller, request: Request, between: Attendant['between']): Round {
    const operation = operationOf(request);
    const meta = metaOf(request.params) ?? {};
    const capabilities = meta[metaKeys.clientCapabilities];
    const askable = askableOf(capabilities);
    const turn = { caller, request, operation, askable };
    if (askable.nothing && request.params.requestState === undefined) return plainRound(turn, meta, between);
    const state = stateOf(turn);
    const dialogue = state?.kind === 'parked' ? parked.take(state.value, principalOf(caller)) : new Dialogue();
    if (dialogue === undefined) throw notWaiting();
    const attendant: Attendant = {
      client: {
        principal: principalOf(caller),
        session: undefined,
        askable,
        takesRounds: true,
        takesTasks: declaresTasks(capabilities),
      },
      between,
      ask: askable.nothing ? undefined : dialogue.ask,
      log: logWish(meta[metaKeys.logLevel]),
    };
    if (state?.kind === 'parked') goOn(dialogue, request, attendant);
    else {
      const inputs = state?.kind === 'again' ? '' : inputsText(request, state?.value);
      dialogue.begin(startOperation(hub, caller, request, operation, attendant, { inputs }));
    }
    return { answer: answerOf(dialogue, turn), cancel: (reason) => dialogue.abandon(reason) };
  }

  /** Nearly every client: it can be asked nothing, so there is nothing to keep. */
  function plainRound(turn: Turn, meta: Params, between: Attendant['between']): Round {
    const { caller, request, operation, askable } = turn;
    const takesTasks = declaresTasks(meta[metaKeys.clientCapabilities]);
    const attendant: Attendant = {
      client: { principal: principalOf(caller), session: undefined, askable, takesRounds: true, takesTasks },
      between,
      ask: undefined,
      log: logWish(meta[metaKeys.logLevel]),
    };
    const inputs = inputsText(request, undefined);
    const { call, result } = startOperation(hub, caller, request, operation, attendant, { inputs });
    return {
      answer: result.then((outcome) => lastAnswer(turn, outcome)),
      cancel: (reason) => call.cancel(reason),
    };
  }

  async function answerOf(dialogue: Dialogue, turn: Turn): Promise<RoundAnswer> {
    const { idText } = turn.request;
    const next = await dialogue.next();
    if (next.kind === 'asked') {
      try {
        const requestState = seal(turn, 'parked', parked.park(dialogue, principalOf(turn.caller)));
        // Steps and log lines have no way any more; what is asked meanwhile waits for the next round.
        dialogue.call?.attach({ ask: dialogue.ask });
        return { text: resultReply(idText, inputRequired(next.inputRequests, requestState)), outcome: undefined };
      } catch (error) {
        dialogue.abandon('there is no room for another call that waits');
        return { text: errorReply(idText, toHubError(error)), outcome: undefined };
      }
    }
    return lastAnswer(turn, next.result);
  }

  function lastAnswer(turn: Turn, result: CallResult): RoundAnswer {
    const text = relayed(turn, result) ?? asQuestions(turn, result);
    const { request, operation } = turn;
    return { text: text ?? operationAnswer(request.idText, operation.kind, result, 'modern'), outcome: result };
  }

  /** A modern server keeps its own state in the client's hands; it comes back to it as it was. */
  function relayed(turn: Turn, result: CallResult): string | undefined {
    const { idText } = turn.request;
    if (result.kind !== 'result' || result.result.value.resultType !== 'input_required') return undefined;
    const { requestState } = result.result.value;
    if (typeof requestState !== 'string') return resultReply(idText, result.result.text);
    const sealed = JSON.stringify(seal(turn, 'relay', requestState));
    return resultReply(idText, withMembers(result.result.text, { requestState: sealed }));
  }

  /** A legacy server that wants a URL visited first says so in an error; the same call is then made again. */
  function asQuestions(turn: Turn, result: CallResult): string | undefined {
    const { request, askable } = turn;
    if (result.kind !== 'error' || result.code !== urlWanted) return undefined;
    const error = JSON.parse(result.text) as { data?: unknown }; // an error is an object
    const wanted = isJsonObject(error.data) && Array.isArray(error.data.elicitations) ? error.data.elicitations : [];
    const method = 'elicitation/create';
    const questions = wanted.filter(isJsonObject).map((params) => ({
      method,
      params: { mode: 'url', ...params },
      paramsText: JSON.stringify({ mode: 'url', ...params }),
    }));
    if (questions.length === 0 || !questions.every(({ params }) => askable.canAnswer(method, params))) return undefined;
    const requests = questions.map((question, index) => `"q${index + 1}":${modernQuestion(question)}`);
    return resultReply(request.idText, inputRequired(`{${requests.join(',')}}`, seal(turn, 'again', '')));
  }

  function seal(turn: Turn, kind: StateClaims['kind'], value: string): string {
    return hub.requestStates.seal({ ...subjectOf(turn), kind, value });
  }

  function stateOf(turn: Turn): Pick<StateClaims, 'kind' | 'value'> | undefined {
    const { requestState } = turn.request.params;
    if (requestState === undefined) return undefined;
    const state = hub.requestStates.open(requestState, subjectOf(turn));
    if (state === undefined) {
      throw new HubError(
        'INVALID_PARAMS',
        'The requestState is not one that this hub gave for this request, or too old.',
        {
          hint: 'Begin again, without requestState and inputResponses.',
        },
      );
    }
    return state;
  }

  return { begin };
}

/** One request of a client, be it the first or another round of a call. */
interface Turn {
  readonly caller: Caller;
  readonly request: Request;
  readonly operation: Operation;
  readonly askable: Askable;
}

function goOn(dialogue: Dialogue, { params }: Request, attendant: Attendant): void {
  // Whatever comes now belongs to this request.
  dialogue.call?.attach(channelOf(params, { ...attendant, ask: dialogue.ask }) ?? {});
  dialogue.answer(isJsonObject(params.inputResponses) ? params.inputResponses : {});
}

/** URLElicitationRequired of the legacy era. */
const urlWanted = -32042;

function inputRequired(inputRequests: string, requestState: string): string {
  return `{"resultType":"input_required","inputRequests":${inputRequests},"requestState":${JSON.stringify(requestState)}}`;
}

function inputsText({ inputsText: responses }: Request, requestState: string | undefined): string {
  if (responses === undefined && requestState === undefined) return '';
  const parts = [
    ...(responses === undefined ? [] : [`"inputResponses":${responses}`]),
    ...(requestState === undefined ? [] : [`"requestState":${JSON.stringify(requestState)}`]),
  ];
  return parts.join(',');
}

export function principalOf({ tokenId, chain }: Caller): string {
  return tokenId ?? chain.join('\0');
}

/** What a state is bound to; made for those alone who have one. */
function subjectOf({ caller, request: { method }, operation: { name, args } }: Turn): Subject {
  return { principal: principalOf(caller), subject: `${method}\0${name}\0${canonicalJson(args)}` };
}

type Subject = Pick<StateClaims, 'principal' | 'subject'>;

/** Something may be said to the client before the answer. */
export function isSpokenTo({ params }: Request): boolean {
  const meta = metaOf(params);
  if (meta === undefined) return false;
  const capabilities = meta[metaKeys.clientCapabilities];
  return (
    meta.progressToken !== undefined ||
    meta[metaKeys.logLevel] !== undefined ||
    (isJsonObject(capabilities) && Object.keys(capabilities).length > 0)
  );
}

function logWish(level: unknown): Attendant['log'] {
  return typeof level === 'string' && logLevels.includes(level) ? { level } : undefined;
}

function notWaiting(): HubError {
  return new HubError('INVALID_PARAMS', 'The call that asked this does not wait any more.', {
    hint: 'Begin again, without requestState and inputResponses.',
  });
}
