import { answerTo, isForApproval, wordsOf } from './answers.mjs';

/**
 * A client at work: who it is, what it has in flight, and what reached it that was not an answer. `opened` is a client
 * of any kind; the actor is made first, for the client needs its handlers.
 */
export function createActor({ name, agent, token, tally }) {
  const progress = new Map();
  const updates = new Map();
  const asking = new Set();

  const actor = {
    name,
    agent,
    token,
    client: undefined,
    /** Its connections are about to be cut, or its token is: calls may end in any way but a wrong one. */
    doomed: false,
    /** Leaves what servers ask without an answer. */
    mute: false,
    busy: 0,
    /** Nonces of calls in which a server may ask this client. */
    asking,
    /** Messages of `notifications/resources/updated`, by URI. */
    updates,
    operationsLeft: 0,

    handlers: {
      onRequest(method, params) {
        if (method === 'ping') return {};
        const words = wordsOf(method, params);
        if (isForApproval(params)) return { action: 'decline' };
        const isMine = words === undefined ? asking.size > 0 : [...asking].some((nonce) => words.includes(nonce));
        if (!isMine && !actor.doomed) tally.wrong('question', `${name} was asked about another's call: ${words}`);
        return actor.mute ? undefined : answerTo(name, method, params);
      },
      onNotification({ method, params }) {
        if (method === 'notifications/progress') {
          const heard = progress.get(params.progressToken);
          if (heard !== undefined) heard(params);
          else if (!actor.doomed) tally.late('progress');
        }
        if (method === 'notifications/resources/updated') updates.get(params.uri)?.();
      },
      strange: (words) => tally.wrong('stranger', `${name} got ${words}`),
    },

    /** A request whose progress goes to `onProgress`, whichever client it is. */
    async request(method, params, options = {}) {
      const { onProgress } = options;
      if (onProgress === undefined || actor.client.kind.startsWith('sdk')) {
        return actor.client.request(method, params, options);
      }
      const progressToken = `${name}-${params.arguments.nonce}`;
      progress.set(progressToken, onProgress);
      const outcome = await actor.client.request(method, { ...params, _meta: { progressToken } }, options);
      progress.delete(progressToken);
      return outcome;
    },

    /** Whom an isolated server takes this client for. */
    ownerOn: (server) => {
      if (server === 'own') return agent;
      return actor.client.era === 'legacy' ? name : token.id;
    },
  };
  return actor;
}
