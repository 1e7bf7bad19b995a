/**
 * A server of the handshake era over stdio with one tool, `ask`, that asks as much as it is told to:
 *
 *   { rounds, count, method, bytes }     so many times so many server requests at once, of so many bytes
 *
 * and answers with what came back, in order: the action of a form, the code of an error, or else `answered`.
 */
import { said } from './raw/echo-tools.mjs';
import { serveStdio, writeMessage } from './raw/serve-stdio.mjs';

const tool = { name: 'ask', description: 'Asks', inputSchema: { type: 'object' } };
const waiting = new Map();
let lastId = 0;

serveStdio({ name: 'asker', listTools: () => ({ tools: [tool] }), callTool: ask }, 'legacy', {
  accept(message) {
    if (message.method !== undefined) return true;
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
    return false;
  },
});

async function ask({ arguments: { rounds = 1, count = 1, method = 'elicitation/create', bytes = 10 } }) {
  const outcomes = [];
  for (let round = 0; round < rounds; round++) {
    const answers = Array.from({ length: count }, () => put(method, 'x'.repeat(bytes)));
    for (const { result, error } of await Promise.all(answers)) {
      outcomes.push(error?.code ?? result.action ?? 'answered');
    }
  }
  return said(JSON.stringify(outcomes));
}

function put(method, message) {
  const id = `ask-${++lastId}`;
  const requestedSchema = { type: 'object', properties: {} };
  return new Promise((resolve) => {
    waiting.set(id, resolve);
    writeMessage({ jsonrpc: '2.0', id, method, params: { message, requestedSchema } });
  });
}
