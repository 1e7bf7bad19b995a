import type { Clock, Timer } from '../../base/index.ts';
import {
  type ClientResponse,
  legacyServerRequest,
  type Message,
  notification,
  type ServerRequest,
  unanswered,
} from '../../mcp/index.ts';

/** The open server requests of a legacy client. */
export interface ServerRequests {
  /** Never rejects: a timeout or the end of the client becomes an error. */
  ask(serverRequest: ServerRequest, send: (message: string) => void): OpenServerRequest;
  /** Takes a response of the client. */
  answered(message: Message & { readonly kind: 'response' }): void;
  close(): void;
}

export interface OpenServerRequest {
  readonly answer: Promise<ClientResponse>;
  /** The client is gone. */
  abandon(): void;
  /** The answer is no longer needed; notifies the client. */
  withdraw(): void;
}

interface Open {
  readonly timer: Timer;
  settle(answer: ClientResponse): void;
}

/** A person may have to answer. */
export const answerMs = 10 * 60_000;

/** A late answer may reach another hub over the same pipes, so ids carry a `mark` of the session. */
export function createServerRequests(clock: Clock, mark = ''): ServerRequests {
  const open = new Map<string | number, Open>();
  const gone = unanswered('The client is gone');
  let lastId = 0;
  let closed = false;

  function end(id: string | number, answer: ClientResponse): void {
    const serverRequest = open.get(id);
    open.delete(id);
    serverRequest?.timer.cancel();
    serverRequest?.settle(answer);
  }

  return {
    ask(serverRequest, send) {
      if (closed) return { answer: Promise.resolve(gone), abandon() {}, withdraw() {} };
      const id = `qm-${mark}${++lastId}`;
      const takeBack = (reason: string, answer: string): void => {
        if (!open.has(id)) return;
        send(notification('notifications/cancelled', { requestId: id, reason }));
        end(id, unanswered(answer));
      };
      const answer = new Promise<ClientResponse>((settle) => {
        const timer = clock.setTimer(answerMs, () => takeBack('timeout', 'The client did not answer in time'));
        open.set(id, { timer, settle });
      });
      send(
        `{"jsonrpc":"2.0","id":"${id}","method":${JSON.stringify(serverRequest.method)},"params":${legacyServerRequest(serverRequest, id)}}`,
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
