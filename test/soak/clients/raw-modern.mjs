import { capabilities, isForApproval } from './answers.mjs';
import { createConnections } from './http.mjs';
import { createPending } from './pending.mjs';

const version = '2026-07-28';
const prefix = 'io.modelcontextprotocol/';

/** A client of the 2026 revision with nothing between it and the wire. */
export function openRawModern({ origin, token, name, handlers }) {
  const url = `${origin}/mcp`;
  const connections = createConnections();
  const pending = createPending({ ...handlers, reply: async () => {} });
  const meta = {
    [`${prefix}protocolVersion`]: version,
    [`${prefix}clientCapabilities`]: capabilities,
    [`${prefix}clientInfo`]: { name: `soak-${name}`, version: '1' },
  };

  const send = (method, params, signal) => async (id) => {
    const named = params.name ?? params.uri;
    const { status, text } = await connections.exchange(url, {
      headers: {
        authorization: `Bearer ${token}`,
        'mcp-protocol-version': version,
        'mcp-method': method,
        ...(typeof named === 'string' ? { 'mcp-name': named } : {}),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...meta, ...params._meta } } }),
      onMessage: pending.deliver,
      signal,
    });
    // If its answer came, that was before the end of the exchange, and counts.
    return { kind: status === 200 ? 'cut' : 'http', status, words: text.slice(0, 200) };
  };

  async function request(method, params = {}, { timeoutMs = 60_000, signal, onId } = {}) {
    let round = params;
    for (let rounds = 0; rounds < 8; rounds++) {
      const outcome = await pending.request(send(method, round, signal), { timeoutMs, onId });
      if (outcome.result?.resultType !== 'input_required') return outcome;
      const asked = outcome.result.inputRequests ?? {};
      // A person would open the link, and this client call again after that.
      if (Object.values(asked).some(({ params: question }) => isForApproval(question))) return outcome;
      const inputResponses = await answersTo(asked);
      if (inputResponses === undefined) return { kind: 'left' };
      round = { ...params, inputResponses, requestState: outcome.result.requestState };
    }
    return { kind: 'silent' };
  }

  /** Undefined when this client leaves one without an answer: it never comes again. */
  async function answersTo(requests) {
    const answers = {};
    for (const [key, { method, params }] of Object.entries(requests)) {
      answers[key] = await handlers.onRequest(method, params ?? {}, 'now');
      if (answers[key] === undefined) return undefined;
    }
    return answers;
  }

  return {
    kind: 'raw-modern',
    era: 'modern',
    request,
    async close() {
      connections.cutAll();
    },
    abandon: () => {
      pending.endAll();
      connections.cutAll();
    },
  };
}
