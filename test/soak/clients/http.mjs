import { Agent, request } from 'node:http';

/** HTTP connections of one client; `cutAll` drops them as a client that died would. */
export function createConnections() {
  const agent = new Agent({ keepAlive: true, maxSockets: 64, timeout: 120_000 });
  const open = new Set();

  /**
   * One exchange. Messages go to `onMessage` as they come, the first event of a stream that is no message to `onEvent`.
   * Resolves at its end with { status, headers, text }; `onText` decides whether a body that is no stream is kept.
   */
  function exchange(url, { method = 'POST', headers = {}, body, onMessage, onEvent, onOpen, signal }) {
    return new Promise((resolve, reject) => {
      const base = { accept: 'application/json, text/event-stream' };
      const type = body === undefined ? {} : { 'content-type': 'application/json' };
      const sent = request(url, { method, agent, headers: { ...base, ...type, ...headers } });
      open.add(sent);
      const cut = () => sent.destroy(new Error('cut'));
      signal?.addEventListener('abort', cut, { once: true });
      const finish = (settle, value) => {
        open.delete(sent);
        signal?.removeEventListener('abort', cut);
        settle(value);
      };
      sent.once('error', (error) => finish(reject, error));
      sent.once('response', (response) => {
        onOpen?.(response);
        read(response, { onMessage, onEvent }).then(
          (text) => finish(resolve, { status: response.statusCode, headers: response.headers, text }),
          (error) => finish(reject, error),
        );
      });
      sent.end(body);
    });
  }

  return {
    exchange,
    cutAll() {
      for (const sent of open) sent.destroy(new Error('cut'));
      agent.destroy();
    },
  };
}

async function read(response, { onMessage, onEvent }) {
  const isStream = response.headers['content-type'] === 'text/event-stream';
  if (isStream) return readStream(response, { onMessage, onEvent });
  const chunks = [];
  for await (const chunk of response) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  if (response.headers['content-type']?.startsWith('application/json') && text !== '') onMessage?.(JSON.parse(text));
  return text;
}

async function readStream(response, { onMessage, onEvent }) {
  // Pieces are put together only at the end of an event: large answers come in many.
  let pieces = [];
  response.setEncoding('utf8');
  for await (const chunk of response) {
    pieces.push(chunk);
    if (!chunk.includes('\n')) continue;
    const events = pieces.join('').split('\n\n');
    pieces = [events.pop()];
    for (const event of events) deliver(event, { onMessage, onEvent });
  }
  return '';
}

function deliver(event, { onMessage, onEvent }) {
  const lines = event.split('\n');
  const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice(6));
  const name = lines.find((line) => line.startsWith('event: '))?.slice(7) ?? 'message';
  if (data.length === 0 || data[0] === '') return;
  if (name === 'message') onMessage?.(JSON.parse(data.join('\n')));
  else onEvent?.(name, data.join('\n'));
}
