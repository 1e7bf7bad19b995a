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
import { stateEnv } from './state-home.ts';
import { within } from './within.ts';

export type Era = 'legacy' | 'modern';

/** Where a client connects: a URL with a token (at `/sse` over the older transport), or a program over stdio. */
export type Endpoint =
  | { readonly url: string; readonly token: string }
  | { readonly command: string; readonly args: readonly string[] };

/** A client with all capabilities and the same interface in both eras. It records every message that it receives. */
export interface MatrixClient {
  readonly name: string;
  readonly era: Era;
  readonly records: Records;
  /** For simple requests: lists, reads, prompts, completion. */
  readonly client: Client;
  call(tool: string, args: object, signal?: AbortSignal): Promise<CallToolResult>;
  /** The text of the tool's result. Throws if the tool failed. */
  say(tool: string, args: object): Promise<string>;
  /** Holds back its answers to server requests until the returned function is called. */
  hold(): () => void;
  /** Requests log messages from this level on. */
  logFrom(level: LoggingLevel): Promise<void>;
  /** Subscribes to a resource. */
  watch(uri: string): Promise<void>;
  unsubscribe(uri: string): Promise<void>;
  /** Subscribes to list changes. */
  watchLists(): Promise<void>;
  close(): Promise<void>;
}

/** Connects a client. Its answers to server requests contain the request's message and its own name. */
export async function openMatrixClient(
  name: string,
  era: Era,
  endpoint: Endpoint,
  root = `file:///${name}`,
): Promise<MatrixClient> {
  const records = createRecords();
  const client = new Client(
    { name, version: '1' },
    {
      capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } },
      versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: modernVersion } },
    },
  );
  let held = Promise.resolve();
  answerQuestions(client, { name, root }, records, () => held);
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
    async unsubscribe(uri) {
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

/** The text of a successful result. */
function textOf({ content, isError }: CallToolResult): string {
  const [first] = content;
  if (first?.type !== 'text' || isError === true) throw new Error(`no good answer: ${JSON.stringify(content)}`);
  return first.text;
}

/** Declines or cancels if the message contains one of these words. */
function answerQuestions(
  client: Client,
  { name, root }: { readonly name: string; readonly root: string },
  { questions }: Records,
  mayAnswer: () => Promise<void>,
): void {
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
    return { roots: [{ uri: root }] };
  });
}

interface Opened {
  readonly transport: Transport;
  /** Resolves when the stream for unsolicited messages is open, or the server turns out to have none. */
  readonly listening: Promise<void>;
  /** Leaves no connection open, as if the program had ended. */
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
      // The same types twice: Node's, and those of the package that they come from.
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

/** Unlike its parent, this negotiates the version over the streams that it goes on to use, not over a second pair. */
class OnePair extends StdioClientTransport {}

function overPipes({ command, args }: { readonly command: string; readonly args: readonly string[] }): Opened {
  const transport = new OnePair({
    command,
    args: [...args],
    env: { PATH: process.env.PATH ?? '', ...stateEnv },
    stderr: 'inherit',
  });
  return { transport, listening: Promise.resolve(), hangUp: async () => {} };
}
