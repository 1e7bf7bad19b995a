import { initializeRequest } from './mcp-clients.ts';
import { type Answer, ask, type Message, openStream, type Stream } from './mcp-http.ts';
import { eventually } from './within.ts';

/** A client of protocol version 2024-11-05 without an SDK between the test and the transport. */
export interface SseClient {
  readonly stream: Stream;
  /** The full URL that the stream announced. */
  readonly endpoint: string;
  /** All messages received on the stream so far. */
  messages(): Message[];
  /** Waits for the response to a request. */
  answer(id: string | number): Promise<Message>;
  post(body: unknown, headers?: Headers): Promise<Answer>;
  /** Posts a request and waits for the response on the stream. */
  request(method: string, params?: object, id?: string | number): Promise<Message>;
  call(name: string, args?: object): Promise<Message>;
}

type Headers = Readonly<Record<string, string | undefined>>;

/** Opens the stream without sending a message. */
export async function listenOverSse(origin: string, token: string, headers: Headers = {}): Promise<SseClient> {
  const authorization = `Bearer ${token}`;
  const stream = await openStream(`${origin}/sse`, {
    headers: { authorization, accept: 'text/event-stream', ...headers },
  });
  const path = await eventually(
    () => /^event: endpoint\ndata: (\S+)\n\n/.exec(stream.text())?.[1],
    `the endpoint of a stream with status ${stream.status}`,
  );
  const endpoint = `${origin}${path}`;
  let lastId = 0;
  const messages = (): Message[] =>
    [...stream.text().matchAll(/^event: message\ndata: (.*)\n\n/gm)].map(
      ([, text]) => JSON.parse(text ?? '') as Message, // a test that reads a missing part fails by itself
    );
  const client: SseClient = {
    stream,
    endpoint,
    messages,
    answer: (id) =>
      eventually(() => messages().find((message) => message.id === id && !message.method), `answer ${id}`),
    post: (body, more = {}) => ask(endpoint, { headers: { authorization, ...more }, body }),
    async request(method, params = {}, id = ++lastId) {
      const { status, text } = await client.post({ jsonrpc: '2.0', id, method, params });
      if (status !== 202) throw new Error(`${method}: ${status} ${text}`);
      return client.answer(id);
    },
    call: (name, args = {}) => client.request('tools/call', { name, arguments: args }),
  };
  return client;
}

/** The same after the handshake. */
export async function sseClient(origin: string, token: string, version = '2024-11-05'): Promise<SseClient> {
  const client = await listenOverSse(origin, token);
  await client.post(initializeRequest(version));
  await client.answer('init');
  await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return client;
}
