import { capabilities } from './answers.mjs';
import { createConnections } from './http.mjs';
import { createPending } from './pending.mjs';

const versions = ['2025-03-26', '2025-06-18', '2025-11-25'];

/** A client of a 2025 revision with nothing between it and the wire. */
export async function openRawLegacy({ origin, token, name, handlers, dice }) {
  const url = `${origin}/mcp`;
  const connections = createConnections();
  const authorization = `Bearer ${token}`;
  let common = { authorization };
  const post = (message, more = {}) =>
    connections.exchange(url, { headers: common, body: JSON.stringify(message), onMessage: pending.deliver, ...more });
  const pending = createPending({ ...handlers, reply: post });

  const send = (method, params, more) => async (id) => {
    const { status, text } = await post({ jsonrpc: '2.0', id, method, params }, more);
    // If its answer came, that was before the end of the exchange, and counts.
    return { kind: status === 200 || status === 202 ? 'cut' : 'http', status, words: text.slice(0, 200) };
  };
  const opening = {
    protocolVersion: dice.pick(versions),
    capabilities,
    clientInfo: { name: `soak-${name}`, version: '1' },
  };
  let session;
  const opened = await pending.request(
    send('initialize', opening, { onOpen: ({ headers }) => (session = headers['mcp-session-id']) }),
    { timeoutMs: 30_000 },
  );
  if (opened.kind !== 'result') {
    connections.cutAll();
    return { failed: opened };
  }
  const { protocolVersion } = opened.result;
  common = { authorization, 'mcp-session-id': session, 'mcp-protocol-version': protocolVersion };
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' });
  const listening = connections
    .exchange(url, { method: 'GET', headers: common, onMessage: pending.deliver })
    .catch(() => {});

  return {
    kind: 'raw-legacy',
    era: 'legacy',
    request: (method, params, { timeoutMs = 60_000, signal, onId } = {}) =>
      pending.request(send(method, params, { signal }), { timeoutMs, onId }),
    cancel: (requestId) => post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }),
    async close() {
      await connections.exchange(url, { method: 'DELETE', headers: common });
      connections.cutAll();
      await listening;
    },
    abandon() {
      pending.endAll();
      connections.cutAll();
    },
  };
}
