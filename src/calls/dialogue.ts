import { HubError, isJsonObject } from '../base/index.ts';
import { modernQuestion, type Question, type QuestionAnswer, unanswered } from '../mcp/index.ts';
import type { Call, CallResult } from './call.ts';

/** What comes next of a call: its end, or questions that its caller answers when it comes again. */
export type DialogueTurn =
  | { readonly kind: 'ended'; readonly result: CallResult }
  /** The open questions by key, as a JSON object. */
  | { readonly kind: 'asked'; readonly inputRequests: string };

/**
 * A call whose caller cannot be asked while it waits: the questions become its answer, and the call waits at the
 * server until the caller comes again with what it was asked for.
 */
export class Dialogue {
  readonly #open = new Map<string, { readonly question: Question; settle(answer: QuestionAnswer): void }>();
  #lastKey = 0;
  #stir: (() => void) | undefined;
  #call: Call | undefined;
  #result: Promise<CallResult> | undefined;
  #abandoned: QuestionAnswer | undefined;

  /** The channel's way to ask. */
  readonly ask = (question: Question): Promise<QuestionAnswer> => {
    if (this.#abandoned !== undefined) return Promise.resolve(this.#abandoned);
    return new Promise((settle) => {
      this.#open.set(`q${++this.#lastKey}`, { question, settle });
      this.#stir?.();
    });
  };

  begin({ call, result }: { readonly call: Call; readonly result: Promise<CallResult> }): void {
    this.#call = call;
    this.#result = result;
    // Whoever asks for the next turn hears of it; nobody may ask again.
    result.catch(() => {});
  }

  get call(): Call | undefined {
    return this.#call;
  }

  async next(): Promise<DialogueTurn> {
    const stirred = new Promise<'asked'>((resolve) => {
      this.#stir = () => resolve('asked');
    });
    if (this.#open.size > 0) this.#stir?.();
    const first = await Promise.race([this.#result, stirred]);
    this.#stir = undefined;
    if (first === 'asked') return { kind: 'asked', inputRequests: this.#inputRequests() };
    return { kind: 'ended', result: first as CallResult }; // the call has begun, so there is a result
  }

  /** What is not answered stays open, and is asked again; what was not asked counts for nothing. */
  answer(responses: Readonly<Record<string, unknown>>): void {
    for (const [key, response] of Object.entries(responses)) {
      const open = this.#open.get(key);
      this.#open.delete(key);
      open?.settle(
        isJsonObject(response)
          ? { kind: 'result', text: JSON.stringify(response) }
          : unanswered('The client answered with no object'),
      );
    }
  }

  /** Nobody will answer. */
  abandon(reason: string | HubError): void {
    this.#abandoned = unanswered(reason instanceof HubError ? reason.message : reason);
    for (const { settle } of this.#open.values()) settle(this.#abandoned);
    this.#open.clear();
    this.#call?.cancel(reason);
  }

  #inputRequests(): string {
    const requests = [...this.#open].map(([key, { question }]) => `"${key}":${modernQuestion(question)}`);
    return `{${requests.join(',')}}`;
  }
}
