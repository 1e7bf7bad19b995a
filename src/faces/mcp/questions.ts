import type { Clock, Timer } from '../../base/index.ts';
import {
  legacyQuestion,
  type Message,
  notification,
  type Question,
  type QuestionAnswer,
  unanswered,
} from '../../mcp/index.ts';

/** What a client that shook hands is being asked. */
export interface Questions {
  /** Never rejects: silence becomes an error, as does the end of the client. */
  ask(question: Question, send: (message: string) => void): Asked;
  /** A message of the client that answers something. */
  answered(message: Message & { readonly kind: 'response' }): void;
  close(): void;
}

export interface Asked {
  readonly answer: Promise<QuestionAnswer>;
  /** Nobody can answer any more. */
  abandon(): void;
  /** Nobody waits for the answer any more; the client is told. */
  withdraw(): void;
}

interface Open {
  readonly timer: Timer;
  settle(answer: QuestionAnswer): void;
}

/** People need their time. */
export const answerMs = 10 * 60_000;

export function createQuestions(clock: Clock): Questions {
  const open = new Map<string | number, Open>();
  const gone = unanswered('The client is gone');
  let lastId = 0;
  let closed = false;

  function end(id: string | number, answer: QuestionAnswer): void {
    const question = open.get(id);
    open.delete(id);
    question?.timer.cancel();
    question?.settle(answer);
  }

  return {
    ask(question, send) {
      if (closed) return { answer: Promise.resolve(gone), abandon() {}, withdraw() {} };
      const id = `qm-${++lastId}`;
      const takeBack = (reason: string, answer: string): void => {
        if (!open.has(id)) return;
        send(notification('notifications/cancelled', { requestId: id, reason }));
        end(id, unanswered(answer));
      };
      const answer = new Promise<QuestionAnswer>((settle) => {
        const timer = clock.setTimer(answerMs, () => takeBack('timeout', 'The client did not answer in time'));
        open.set(id, { timer, settle });
      });
      send(
        `{"jsonrpc":"2.0","id":"${id}","method":${JSON.stringify(question.method)},"params":${legacyQuestion(question, id)}}`,
      );
      return {
        answer,
        abandon: () => end(id, gone),
        withdraw: () => takeBack('the call has ended', 'The call has ended'),
      };
    },
    answered: ({ id, answer }) => end(id, answer),
    close() {
      closed = true;
      for (const id of [...open.keys()]) end(id, gone);
    },
  };
}
