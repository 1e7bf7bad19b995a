import { within } from '../world/within.mjs';
import { capabilities } from './answers.mjs';
import { createConnections } from './http.mjs';
import { createPending } from './pending.mjs';

/** A client of revision 2024-11-05: one stream for all answers, messages posted beside it. */
export async function openSse({ origin, token, name, handlers }) {
  const connections = createConnections();
  const headers = { authorization: `Bearer ${token}` };
  const post = (message, more) => connections.exchange(endpoint, { headers, body: JSON.stringify(message), ...more });
  const pending = createPending({ ...handlers, reply: post });
  let endpoint;
  let refused;
  const opened = new Promise((resolve) => {
    connections
      .exchange(`${origin}/sse`, {
        method: 'GET',
        headers: { ...headers, accept: 'text/event-stream' },
        onMessage: pending.deliver,
        onEvent: (event, data) => event === 'endpoint' && resolve(`${origin}${data}`),
      })
      .then(({ status, text }) => {
        refused = { kind: 'http', status, words: text.slice(0, 200) };
      })
      .catch((error) => {
        refused = { kind: 'cut', words: String(error) };
      })
      .finally(() => {
        resolve(undefined);
        pending.endAll();
      });
  });
  endpoint = await within(opened, 30_000, 'the endpoint of /sse').catch(() => undefined);
  if (endpoint === undefined) {
    connections.cutAll();
    return { failed: refused ?? { kind: 'silent' } };
  }
  const send = (method, params, signal) => async (id) => {
    const { status, text } = await post({ jsonrpc: '2.0', id, method, params }, { signal });
    return status === 202 ? undefined : { kind: 'http', status, words: text.slice(0, 200) };
  };
  const opening = { protocolVersion: '2024-11-05', capabilities, clientInfo: { name: `soak-${name}`, version: '1' } };
  const begun = await pending.request(send('initialize', opening), { timeoutMs: 30_000 });
  if (begun.kind !== 'result') {
    connections.cutAll();
    return { failed: begun };
  }
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' });
  const leave = () => {
    pending.endAll();
    connections.cutAll();
  };

  return {
    kind: 'sse',
    era: 'legacy',
    request: (method, params = {}, { timeoutMs = 60_000, signal, onId } = {}) =>
      pending.request(send(method, params, signal), { timeoutMs, onId }),
    cancel: (requestId) => post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }),
    close: async () => leave(),
    abandon: leave,
  };
}
