import { isJsonObject } from '../../base/index.ts';
import type { CallResult } from '../../calls/index.ts';
import { modernInputRequest, type RequestStates, resultReply, withMembers } from '../../mcp/index.ts';
import { operationAnswer } from './answer-text.ts';
import { type ModernRequest, sealState } from './request-turn.ts';

/** The JSON-RPC answer to a modern client whose call has ended. The server may still want input for another call. */
export function modernAnswer(states: RequestStates, turn: ModernRequest, result: CallResult): string {
  const { request, operation } = turn;
  return (
    serverInputRequired(states, turn, result) ??
    urlElicitations(states, turn, result) ??
    operationAnswer(request.idText, operation.kind, result, 'modern')
  );
}

/** The result that asks the client for input. */
export function inputRequired(inputRequests: string, requestState: string): string {
  return `{"resultType":"input_required","inputRequests":${inputRequests},"requestState":${JSON.stringify(requestState)}}`;
}

/** A modern server gave its own state to the client; the hub seals it and returns it to the server unchanged. */
function serverInputRequired(states: RequestStates, turn: ModernRequest, result: CallResult): string | undefined {
  const { idText } = turn.request;
  if (result.kind !== 'result' || result.result.value.resultType !== 'input_required') return undefined;
  const { requestState } = result.result.value;
  if (typeof requestState !== 'string') return resultReply(idText, result.result.text);
  const sealed = JSON.stringify(sealState(states, turn, { kind: 'relay', value: requestState }));
  return resultReply(idText, withMembers(result.result.text, { requestState: sealed }));
}

/** A legacy server that wants a URL visited first answers with an error; the client visits it and calls again. */
function urlElicitations(states: RequestStates, turn: ModernRequest, result: CallResult): string | undefined {
  const { request, clientCapabilities } = turn;
  if (result.kind !== 'error' || result.code !== urlElicitationRequired) return undefined;
  const error = JSON.parse(result.text) as { data?: unknown }; // an error is an object
  const wanted = isJsonObject(error.data) && Array.isArray(error.data.elicitations) ? error.data.elicitations : [];
  const method = 'elicitation/create';
  const elicitations = wanted.filter(isJsonObject).map((elicitation) => {
    const params = { mode: 'url', ...elicitation };
    return { method, params, paramsText: JSON.stringify(params) };
  });
  const canAnswer = elicitations.every(({ params }) => clientCapabilities.canAnswer(method, params));
  if (elicitations.length === 0 || !canAnswer) return undefined;
  const requests = elicitations.map((elicitation, index) => `"q${index + 1}":${modernInputRequest(elicitation)}`);
  const requestState = sealState(states, turn, { kind: 'again', value: '' });
  return resultReply(request.idText, inputRequired(`{${requests.join(',')}}`, requestState));
}

/** The legacy error code URLElicitationRequired. */
const urlElicitationRequired = -32042;
