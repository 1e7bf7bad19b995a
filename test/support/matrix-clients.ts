import {
  type CallToolResult,
  Client,
  type LoggingLevel,
  type McpSubscription,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Agent, fetch as fetchWith, type RequestInit as InitWith } from 'undici';
import { createRecords, type Records } from './matrix-records.ts';
import { modernVersion } from './mcp-clients.ts';
import { within } from './within.ts';

export type Era = 'legacy' | 'modern';

/** Where a client connects: an endpoint with a token, one at `/sse` over the older transport, or a program on pipes. */
export type Endpoint =
  | { readonly url: string; readonly token: string }
  | { readonly command: string; readonly args: readonly string[] };

/** A client that can do everything, is the same in both eras, and writes down whatever reaches it. */
export interface MatrixClient {
  readonly name: string;
  readonly era: Era;
  readonly records: Records;
  /** For what needs no more than a request and its answer: lists, reads, prompts, completion. */
  readonly client: Client;
  call(tool: string, args: object, signal?: AbortSignal): Promise<CallToolResult>;
  /** The text that the tool answered; its failure is a failure here. */
  say(tool: string, args: object): Promise<string>;
  /** Keeps its answers to questions back until what this returns is called. */
  hold(): () => void;
  /** Wants the log from this level on. */
  logFrom(level: LoggingLevel): Promise<void>;
  /** Wants to hear when a resource is new. */
  watch(uri: string): Promise<void>;
  unwatch(uri: string): Promise<void>;
  /** Wants to hear when a list has changed. */
  watchLists(): Promise<void>;
  close(): Promise<void>;
}

/** Connects; its answers to questions hold the question and its own name. */
export async function openMatrixClient(name: string, era: Era, endpoint: Endpoint): Promise<MatrixClient> {
  const records = createRecords();
  const client = new Client(
    { name, version: '1' },
    {
      capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
      versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: modernVersion } },
    },
  );
  let held = Promise.resolve();
  answerQuestions(client, name, records, () => held);
  const { transport, listening, hangUp } = 'url' in endpoint ? overHttp(endpoint) : overPipes(endpoint);
  transport.onmessage = records.message;
  client.onerror = records.error;
  await within(client.connect(transport), `${name} to connect`);
  if (era === 'legacy') await within(listening, `the stream of ${name} to open`);

  const wanted = new Map<string, McpSubscription>();
  let meta: object = {};
  const matrixClient: MatrixClient = {
    name,
    era,
    records,
    client,
    call: (tool, args, signal) =>
      client.callTool(
        { name: tool, arguments: { ...args }, _meta: { ...meta } },
        { onprogress: (step) => records.step(step, args), ...(signal === undefined ? {} : { signal }) },
      ),
    say: async (tool, args) => textOf(await matrixClient.call(tool, args)),
    hold() {
      let release = (): void => {};
      held = new Promise((resolve) => {
        release = resolve;
      });
      return release;
    },
    async logFrom(level) {
      if (era === 'legacy') await client.setLoggingLevel(level);
      else meta = { 'io.modelcontextprotocol/logLevel': level };
    },
    async watch(uri) {
      if (era === 'legacy') await client.subscribeResource({ uri });
      else wanted.set(uri, await client.listen({ resourceSubscriptions: [uri] }));
    },
    async unwatch(uri) {
      if (era === 'legacy') await client.unsubscribeResource({ uri });
      else await wanted.get(uri)?.close();
    },
    async watchLists() {
      if (era === 'legacy') return;
      await client.listen({ toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true });
    },
    async close() {
      await within(client.close(), `${name} to close`);
      await hangUp();
    },
  };
  return matrixClient;
}

/** The one text of a good answer. */
function textOf({ content, isError }: CallToolResult): string {
  const [first] = content;
  if (first?.type !== 'text' || isError === true) throw new Error(`no good answer: ${JSON.stringify(content)}`);
  return first.text;
}

/** A message with one of these words in it is declined or cancelled. */
function answerQuestions(client: Client, name: string, { questions }: Records, mayAnswer: () => Promise<void>): void {
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    const { message } = params;
    questions.push('url' in params ? `${message} ${params.url}` : message);
    await mayAnswer();
    if (message.includes('decline')) return { action: 'decline' };
    if (message.includes('cancel')) return { action: 'cancel' };
    return 'url' in params
      ? { action: 'accept' }
      : { action: 'accept', content: { answer: `${name} read ${message}` } };
  });
  client.setRequestHandler('sampling/createMessage', async ({ params }) => {
    const asked = JSON.stringify(params.messages[0]?.content);
    const text = /"text":"([^"]*)"/.exec(asked)?.[1] ?? asked;
    questions.push(text);
    await mayAnswer();
    return { model: name, role: 'assistant', content: { type: 'text', text: `${name} read ${text}` } };
  });
  client.setRequestHandler('roots/list', async () => {
    questions.push('roots');
    await mayAnswer();
    return { roots: [{ uri: `file:///${name}` }] };
  });
}

interface Opened {
  readonly transport: Transport;
  /** The stream for what nobody asked for is there, or the server has none. */
  readonly listening: Promise<void>;
  /** Leaves no connection open, as the end of a program would. */
  hangUp(): Promise<void>;
}

function overHttp({ url, token }: { readonly url: string; readonly token: string }): Opened {
  let opened = (): void => {};
  const listening = new Promise<void>((resolve) => {
    opened = resolve;
  });
  const dispatcher = new Agent();
  const options = {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
    async fetch(to: string | URL, init?: RequestInit): Promise<Response> {
      // The same types twice: those of Node, and those of the package that they were made from.
      const response = await fetchWith(to, { ...(init as unknown as InitWith), dispatcher });
      if (init?.method !== 'POST') opened();
      return response as unknown as Response;
    },
  };
  const transport = url.endsWith('/sse')
    ? new SSEClientTransport(new URL(url), options)
    : new StreamableHTTPClientTransport(new URL(url), options);
  return { transport, listening, hangUp: () => dispatcher.destroy() };
}

/** Other than its parent, this asks for the era on the pipes that it goes on to use, not on those of a twin. */
class OnePair extends StdioClientTransport {}

function overPipes({ command, args }: { readonly command: string; readonly args: readonly string[] }): Opened {
  const transport = new OnePair({ command, args: [...args], stderr: 'inherit' });
  return { transport, listening: Promise.resolve(), hangUp: async () => {} };
}
