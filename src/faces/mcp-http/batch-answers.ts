import type { ServerResponse } from 'node:http';
import type { CountedAnswers, RequestAnswer } from '../mcp/index.ts';
import { uncountedBytes } from './client-bytes.ts';
import { answersOf, fittingText } from './unsent-answers.ts';

/** The answers to one batch. They are sent together, so large ones count while they wait for the others. */
export class BatchAnswers implements CountedAnswers {
  readonly #response: ServerResponse;
  #counted = 0;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  add(answer: RequestAnswer): string {
    const text = fittingText(this.#response, answer);
    if (text.length > uncountedBytes) {
      this.#counted += text.length;
      answersOf(this.#response)?.add(text.length);
    }
    return text;
  }

  release(): void {
    answersOf(this.#response)?.release(this.#counted);
    this.#counted = 0;
  }
}
