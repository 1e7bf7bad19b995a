import type { ServerResponse } from 'node:http';
import { type GrowingAnswer, sendAnswer } from '../response.ts';
import { droppedText, fittingText } from '../unsent-answers.ts';
import type { EventLog } from './event-log.ts';

/** An answer that the client can resume after a lost connection, once it is a stream. */
export interface ResumableAnswer extends GrowingAnswer {
  /** The client is gone for good before the answer was sent. */
  readonly onGone: (listener: () => void) => void;
}

export function resumableAnswer(response: ServerResponse, streams: { open(): EventLog }): ResumableAnswer {
  let log: EventLog | undefined;

  function grow(): EventLog | undefined {
    if (log === undefined && !response.destroyed) {
      log = streams.open();
      log.attach(response);
    }
    return log;
  }

  return {
    grow,
    between: (message) => grow()?.send(message),
    write: (text) => log?.write(text),
    onGone(listener) {
      if (log !== undefined) log.onGone(listener);
      else if (response.destroyed) listener();
      else response.once('close', () => (log === undefined ? listener() : log.onGone(listener)));
    },
    end(answer) {
      if (log === undefined) sendAnswer(response, answer);
      else {
        log.send(log.keeps(answer.text.length) ? fittingText(response, answer) : droppedText(answer));
        log.end();
      }
    },
  };
}
