import type { ServerResponse } from 'node:http';
import type { EventLog } from './event-log.ts';
import { type GrowingAnswer, sendJson } from './response.ts';

/** Once it is a stream, the client may lose its connection and come back for the rest. */
export interface ResumableAnswer extends GrowingAnswer {
  /** Nobody reads any more nor can come back, and the answer has not left. */
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
    end(message) {
      if (log === undefined) sendJson(response, 200, message);
      else {
        log.send(message);
        log.end();
      }
    },
  };
}
