import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { within } from './within.ts';

/** The parts of a JSON-RPC message that tests read. */
export interface Message {
  readonly jsonrpc?: string;
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Result;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> };
}

export interface Result {
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
  readonly tools?: readonly { readonly name: string }[];
  readonly _meta?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
  /** Text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The response: the only message of a JSON body, or the last of a stream. */
  readonly message: Message;
  /** The messages of an event stream. */
  readonly events: readonly Message[];
}

/** A response that may never end. */
export interface Stream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Waits for the next message. */
  next(): Promise<Message>;
  /** The text of the stream so far. */
  text(): string;
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;
  close(): void;
}

/** One complete exchange, on its own connection. */
export async function ask(url: string, what: Ask = {}): Promise<Answer> {
  const { response } = await start(url, what);
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  await within(endOf(response), `the end of the answer to ${inShort(what)}`);
  const text = Buffer.concat(chunks).toString('utf8');
  const type = response.headers['content-type'];
  const events = type === 'text/event-stream' ? messagesOf(text) : [];
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text,
    message: type === 'application/json' ? parse(text) : (events.at(-1) ?? {}),
    events,
  };
}

/** An exchange whose response is read incrementally. */
export async function openStream(url: string, what: Ask = {}): Promise<Stream> {
  const { sent, response } = await start(url, what);
  let text = '';
  let taken = 0;
  const wake = new Set<() => void>();
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    for (const look of wake) look();
  });
  const ended = endOf(response);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: () => text,
    ended,
    async next() {
      const index = taken++;
      const found = new Promise<Message>((resolve) => {
        const look = (): void => {
          const message = messagesOf(text)[index];
          if (message === undefined) return;
          wake.delete(look);
          resolve(message);
        };
        wake.add(look);
        look();
      });
      return within(found, `message ${index + 1} of a stream that says: ${text}`);
    },
    close() {
      sent.destroy();
    },
  };
}

/** Starts an exchange and leaves it to the test. Reads nothing. */
export function send(url: string, { method = 'POST', headers = {}, body }: Ask): ClientRequest {
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const base = body === undefined ? {} : { 'content-type': 'application/json' };
  const accept = { accept: 'application/json, text/event-stream' };
  const sent = request(url, { method, agent: false, headers: defined({ ...accept, ...base, ...headers }) });
  sent.on('error', () => {});
  sent.end(text);
  return sent;
}

async function start(url: string, what: Ask): Promise<{ sent: ClientRequest; response: IncomingMessage }> {
  const sent = send(url, { method: what.body === undefined ? 'GET' : 'POST', ...what });
  const response = await within(
    new Promise<IncomingMessage>((resolve, reject) => {
      sent.once('response', resolve);
      sent.once('error', reject);
    }),
    `an answer to ${inShort(what)}`,
  );
  return { sent, response };
}

function inShort({ method, body }: Ask): string {
  if (body === undefined) return method ?? 'GET';
  if (Buffer.isBuffer(body)) return `${body.length} bytes`;
  return (typeof body === 'string' ? body : JSON.stringify(body)).slice(0, 300);
}

function endOf(response: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    response.once('close', resolve);
    response.once('error', () => resolve());
  });
}

export function messagesOf(stream: string): Message[] {
  return stream
    .split('\n\n')
    .slice(0, -1)
    .flatMap((event) => event.split('\n').filter((line) => /^data: ./.test(line)))
    .map((line) => parse(line.slice('data: '.length)));
}

function parse(text: string): Message {
  return JSON.parse(text) as Message; // a test that reads a missing part fails by itself
}

function defined(headers: NonNullable<Ask['headers']>): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}
