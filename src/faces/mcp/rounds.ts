import { HubError, isJsonObject, toHubError } from '../../base/index.ts';
import { type CallResult, Dialogue, type ParkedCalls } from '../../calls/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import {
  type Askable,
  askableOf,
  canonicalJson,
  errorReply,
  metaKeys,
  metaOf,
  modernQuestion,
  resultReply,
  type StateClaims,
  withMembers,
} from '../../mcp/index.ts';
import { operationAnswer } from './answer-text.ts';
import { type Attendant, type Operation, operationOf, type Request, startOperation } from './operations.ts';
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
    const askable = askableOf(meta[metaKeys.clientCapabilities]);
    const subject = { principal: principalOf(caller), subject: subjectOf(request, operation) };
    const state = stateOf(request, subject);
    if (state?.kind === 'parked') return goOn(request, operation, subject, state.value);
    const dialogue = new Dialogue();
    const attendant: Attendant = {
      client: { principal: subject.principal, session: undefined, askable, takesRounds: true },
      between,
      ask: askable.nothing ? undefined : dialogue.ask,
      log: logWish(meta[metaKeys.logLevel]),
    };
    const inputs = state?.kind === 'again' ? '' : inputsText(request, state?.value);
    dialogue.begin(startOperation(hub, caller, request, operation, attendant, { inputs }));
    return follow(dialogue, request, operation, subject, askable);
  }

  function goOn(request: Request, operation: Operation, subject: Subject, id: string): Round {
    const dialogue = parked.take(id, subject.principal);
    if (dialogue === undefined) throw notWaiting();
    dialogue.answer(isJsonObject(request.params.inputResponses) ? request.params.inputResponses : {});
    const askable = askableOf(metaOf(request.params)?.[metaKeys.clientCapabilities]);
    return follow(dialogue, request, operation, subject, askable);
  }

  function follow(
    dialogue: Dialogue,
    request: Request,
    operation: Operation,
    subject: Subject,
    askable: Askable,
  ): Round {
    return {
      answer: answerOf(dialogue, request, operation, subject, askable),
      cancel: (reason) => dialogue.abandon(reason),
    };
  }

  async function answerOf(
    dialogue: Dialogue,
    { idText }: Request,
    { kind }: Operation,
    subject: Subject,
    askable: Askable,
  ): Promise<RoundAnswer> {
    const turn = await dialogue.next();
    if (turn.kind === 'asked') {
      try {
        const requestState = seal(subject, 'parked', parked.park(dialogue, subject.principal));
        dialogue.call?.detach();
        return { text: resultReply(idText, inputRequired(turn.inputRequests, requestState)), outcome: undefined };
      } catch (error) {
        dialogue.abandon('there is no room for another call that waits');
        return { text: errorReply(idText, toHubError(error)), outcome: undefined };
      }
    }
    const { result } = turn;
    const text = relayed(idText, result, subject) ?? asQuestions(idText, result, subject, askable);
    return { text: text ?? operationAnswer(idText, kind, result, 'modern'), outcome: result };
  }

  /** A modern server keeps its own state in the client's hands; it comes back to it as it was. */
  function relayed(idText: string, result: CallResult, subject: Subject): string | undefined {
    if (result.kind !== 'result' || result.result.value.resultType !== 'input_required') return undefined;
    const { requestState } = result.result.value;
    if (typeof requestState !== 'string') return resultReply(idText, result.result.text);
    const sealed = JSON.stringify(seal(subject, 'relay', requestState));
    return resultReply(idText, withMembers(result.result.text, { requestState: sealed }));
  }

  /** A legacy server that wants a URL visited first says so in an error; the same call is then made again. */
  function asQuestions(idText: string, result: CallResult, subject: Subject, askable: Askable): string | undefined {
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
    return resultReply(idText, inputRequired(`{${requests.join(',')}}`, seal(subject, 'again', '')));
  }

  function seal(subject: Subject, kind: StateClaims['kind'], value: string): string {
    return hub.requestStates.seal({ ...subject, kind, value });
  }

  function stateOf({ params }: Request, subject: Subject): Pick<StateClaims, 'kind' | 'value'> | undefined {
    if (params.requestState === undefined) return undefined;
    const state = hub.requestStates.open(params.requestState, subject);
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

type Subject = Pick<StateClaims, 'principal' | 'subject'>;

/** URLElicitationRequired of the legacy era. */
const urlWanted = -32042;

function inputRequired(inputRequests: string, requestState: string): string {
  return `{"resultType":"input_required","inputRequests":${inputRequests},"requestState":${JSON.stringify(requestState)}}`;
}

function inputsText({ inputsText: responses }: Request, requestState: string | undefined): string {
  const parts = [
    ...(responses === undefined ? [] : [`"inputResponses":${responses}`]),
    ...(requestState === undefined ? [] : [`"requestState":${JSON.stringify(requestState)}`]),
  ];
  return parts.join(',');
}

export function principalOf({ tokenId, chain }: Caller): string {
  return tokenId ?? chain.join('\0');
}

function subjectOf({ method }: Request, { name, args }: Operation): string {
  return `${method}\0${name}\0${canonicalJson(args)}`;
}

function logWish(level: unknown): Attendant['log'] {
  return typeof level === 'string' ? { level } : undefined;
}

function notWaiting(): HubError {
  return new HubError('INVALID_PARAMS', 'The call that asked this does not wait any more.', {
    hint: 'Begin again, without requestState and inputResponses.',
  });
}
