import { HubError, isJsonObject } from '../base/index.ts';
import type { Askable, Question, QuestionAnswer } from '../mcp/index.ts';
import type { WireReply, WireResult } from '../upstream/index.ts';
import { type Call, maxQuestions } from './call.ts';
import type { Target } from './target.ts';

/** A server that never has enough is stopped. */
export const maxRounds = 16;

export function isInputRequired(reply: WireReply): reply is WireResult {
  return reply.kind === 'result' && reply.value.resultType === 'input_required';
}

/** What a modern server asks in its result, by key. */
export type Asked = readonly (readonly [key: string, question: Question])[];

/** Throws HubError for what cannot be put to the caller: nobody shall fill in a form for a call that cannot go on. */
export function questionsIn(call: Call, target: Target, { value }: WireResult): Asked {
  const { inputRequests, requestState } = value;
  const asked = isJsonObject(inputRequests) ? Object.entries(inputRequests) : [];
  if (asked.length === 0 && requestState === undefined) throw tooMuch(target, 'for input, and then nothing');
  if (asked.length > maxQuestions) throw tooMuch(target, `${asked.length} questions at once`);
  const { askable } = call.request.client ?? {};
  const questions = asked.map(([key, item]) => [key, toQuestion(item)] as const);
  for (const [, question] of questions) checkAble(target, question, askable);
  return questions;
}

/** Asks a caller while it waits. The answers are the members of `params` with which the call is sent again. */
export async function collectInputs(call: Call, target: Target, asked: Asked, state: unknown): Promise<string> {
  const answers = await Promise.all(
    asked.map(
      async ([key, question]) => `${JSON.stringify(key)}:${toInput(target, question, await call.ask(question))}`,
    ),
  );
  const requestState = typeof state === 'string' ? `,"requestState":${JSON.stringify(state)}` : '';
  return `"inputResponses":{${answers.join(',')}}${requestState}`;
}

export function tooManyRounds(target: Target): HubError {
  return tooMuch(target, `more than ${maxRounds} rounds of questions`);
}

function toQuestion(item: unknown): Question {
  const { method, params } = isJsonObject(item) ? item : {};
  const known = isJsonObject(params) ? params : {};
  return { method: String(method), params: known, paramsText: JSON.stringify(known) };
}

function checkAble(target: Target, { method, params }: Question, askable: Askable | undefined): void {
  if (askable?.canAnswer(method, params)) return;
  const { server, subjectName: tool } = target;
  const requiredCapabilities = askable?.missingFor(method, params) ?? {};
  throw new HubError(
    'CAPABILITY_MISSING',
    `Server "${server}" asks for ${method.slice(0, 60)}, which the client cannot answer.`,
    {
      hint: 'Use a client that declares this capability.',
      details: { server, tool, requiredCapabilities },
    },
  );
}

/** A form that fails is a form that was closed; other questions have no such answer. */
function toInput({ server, subjectName: tool }: Target, question: Question, { kind, text }: QuestionAnswer): string {
  if (kind === 'result') return text;
  if (question.method === 'elicitation/create') return '{"action":"cancel"}';
  throw new HubError('INPUT_MISSING', `The client did not answer ${question.method} of server "${server}".`, {
    details: { server, tool, answer: text.slice(0, 500) },
  });
}

function tooMuch({ server, subjectName: tool }: Target, what: string): HubError {
  return new HubError('UPSTREAM_GARBLED', `Server "${server}" asked ${what}.`, { details: { server, tool } });
}
