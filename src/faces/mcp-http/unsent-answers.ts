import type { ServerResponse } from 'node:http';
import { HubError } from '../../base/index.ts';
import { resultTooLarge } from '../../calls/index.ts';
import { errorReply } from '../../mcp/index.ts';
import type { RequestAnswer } from '../mcp/index.ts';
import { type ClientBudget, uncountedBytes } from './client-bytes.ts';
import type { PlainRequest } from './requests/plain-request.ts';

/** The text of an answer, or of an error if the clients of its agent leave too much unread. */
export function fittingText(response: ServerResponse, { idText, text, ran }: RequestAnswer): string {
  const budget = text.length <= uncountedBytes ? undefined : answersOf(response);
  if (budget === undefined) return text;
  const fits = ran ? budget.fitsResult(text.length) : budget.fits(text.length);
  return fits ? text : droppedText({ idText, text, ran });
}

/** The error that replaces a dropped answer. */
export function droppedText({ idText, text, ran }: RequestAnswer): string {
  return errorReply(idText, ran ? resultTooLarge(text.length) : tooMuchUnread());
}

/** Writes a text. A large one counts against the budget of its agent until it has been sent. */
export function writeCounted(response: ServerResponse, text: string, encoding: BufferEncoding): void {
  const budget = text.length <= uncountedBytes ? undefined : answersOf(response);
  if (budget === undefined) response.write(text, encoding);
  else UnsentBytes.of(response, budget).write(text, encoding);
}

/** The budget of the agent of the request; undefined for a request without one. */
export function answersOf(response: ServerResponse): ClientBudget | undefined {
  const request = response.req as Partial<PlainRequest>; // a server of another kind has requests without budgets
  return request.bytes?.answers;
}

interface CountedResponse extends ServerResponse {
  [unsent]?: UnsentBytes;
}

const unsent = Symbol('unsent bytes');

/** The bytes that one response takes from a budget. */
class UnsentBytes {
  readonly #response: ServerResponse;
  readonly #budget: ClientBudget;
  #counted = 0;

  static of(response: CountedResponse, budget: ClientBudget): UnsentBytes {
    response[unsent] ??= new UnsentBytes(response, budget);
    return response[unsent];
  }

  constructor(response: ServerResponse, budget: ClientBudget) {
    this.#response = response;
    this.#budget = budget;
    response.once('close', () => this.#giveBack(this.#counted));
  }

  write(text: string, encoding: BufferEncoding): void {
    if (this.#response.destroyed) return;
    const bytes = Buffer.byteLength(text);
    this.#counted += bytes;
    this.#budget.add(bytes);
    // After 'close' there is nothing left to give back.
    this.#response.write(text, encoding, () => this.#giveBack(Math.min(bytes, this.#counted)));
  }

  #giveBack(bytes: number): void {
    this.#counted -= bytes;
    this.#budget.release(bytes);
  }
}

function tooMuchUnread(): HubError {
  return new HubError('OVERLOADED', 'Too many large answers wait to be read by the clients of this agent.', {
    hint: 'Read the answers to earlier requests first.',
  });
}
