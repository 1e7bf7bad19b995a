import { initializeRequest } from './mcp-clients.ts';
import { type Answer, ask, type Message, openStream, type Stream } from './mcp-http.ts';
import { eventually } from './within.ts';

/** A client of revision 2024-11-05 with nothing between the test and the wire. */
export interface SseClient {
  readonly stream: Stream;
  /** The address that the stream began with, in full. */
  readonly endpoint: string;
  /** Everything that came over the stream so far. */
  messages(): Message[];
  /** The answer to a request, once it is there. */
  answer(id: string | number): Promise<Message>;
  post(body: unknown, headers?: Headers): Promise<Answer>;
  /** Posts, and waits for the answer on the stream. */
  request(method: string, params?: object, id?: string | number): Promise<Message>;
  call(name: string, args?: object): Promise<Message>;
}

type Headers = Readonly<Record<string, string | undefined>>;

/** Opens the stream, and says nothing yet. */
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
      ([, text]) => JSON.parse(text ?? '') as Message, // a test that reads what is not there fails by itself
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
