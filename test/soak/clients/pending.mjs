import { within } from '../world/within.mjs';

/** An answer as operations judge it. */
export function outcomeOf(message) {
  if (message.error === undefined) return { kind: 'result', result: message.result };
  const { code, message: words, data } = message.error;
  return { kind: 'error', code, name: data?.code, words };
}

/**
 * Requests of a client that wait for an answer, whichever way it comes. Whatever comes that nobody asked for is given
 * to `strange`: an answer with the id of no request may be another's.
 */
export function createPending({ reply, onRequest, onNotification, strange }) {
  const waiting = new Map();
  const done = new Set();
  let lastId = 0;

  return {
    /** `send(id)` sends it; gives the outcome, or `silent` when nothing came in time. */
    async request(send, { timeoutMs, onId }) {
      const id = ++lastId;
      onId?.(id);
      const answer = new Promise((resolve) => waiting.set(id, resolve));
      const sent = send(id).then(
        (early) => early ?? never,
        (error) => ({ kind: 'cut', words: String(error.cause ?? error) }),
      );
      const outcome = await within(Promise.race([answer, sent]), timeoutMs, 'an answer').catch(() => ({
        kind: 'silent',
      }));
      waiting.delete(id);
      done.add(id);
      return outcome;
    },
    deliver(message) {
      if (message.method === undefined) {
        const resolve = waiting.get(message.id);
        if (resolve !== undefined) resolve(outcomeOf(message));
        else if (!done.has(message.id) && !isEndOfSession(message))
          strange(`an answer to nobody's request: ${JSON.stringify(message).slice(0, 300)}`);
        return;
      }
      if (message.id === undefined) {
        onNotification(message);
        return;
      }
      void answerRequest(message);
    },
    endAll() {
      for (const resolve of waiting.values()) resolve({ kind: 'cut', words: 'the client is gone' });
      waiting.clear();
    },
  };

  async function answerRequest({ id, method, params }) {
    const result = await onRequest(method, params);
    if (result === undefined) return; // Left without an answer, on purpose.
    await reply({ jsonrpc: '2.0', id, result }).catch(() => {}); // A call that is over needs none.
  }
}

const never = new Promise(() => {});

/** A notification of a client whose session has just ended is answered too, and has no id. */
function isEndOfSession({ id, error }) {
  return id === null && error?.data?.code === 'SESSION_UNKNOWN';
}
