import type { Readable, Writable } from 'node:stream';
import { HubError, isJsonObject, type Logger, toHubError } from '../../base/index.ts';
import {
  callingAgentKey,
  classify,
  createLineReader,
  errorReply,
  legacyConnectionVersions,
  type Message,
  metaKeys,
  modernVersions,
  negotiateLegacy,
  readBody,
  resultReply,
} from '../../mcp/index.ts';
import { type ServedTool, type ToolContext, ToolFault } from './served-tool.ts';
import { toolText } from './tool-text.ts';

/** One of our own servers, as clients see it. */
export interface ServedServer {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  readonly instructions: string;
  readonly tools: readonly ServedTool[];
}

export interface ServingDeps {
  readonly input: Readable;
  readonly output: Writable;
  readonly logger: Logger;
}

/**
 * `ended` resolves when the client has disconnected and every call has been answered, or at
 * once after `close`. It never
 * rejects.
 */
export interface Serving {
  readonly ended: Promise<void>;
  /** Aborts the calls in flight. */
  close(): void;
}

/** Serves MCP, legacy and modern, over a pair of streams. */
export function serveTools(deps: ServingDeps, server: ServedServer): Serving {
  const serving = new ToolServing(deps, server);
  return { ended: serving.ended, close: () => serving.close() };
}

type Request = Extract<Message, { kind: 'request' }>;

/** More than a hub forwards in one request: an oversized message ends the connection for every agent that shares it. */
const maxMessageBytes = 64 * 1024 * 1024;
const noHeaders = { protocolVersion: undefined, method: undefined, name: undefined };
/** The only protocol version with batches. */
const batchVersion = '2025-03-26';
/** The tools and the server's identity do not change while it runs, and are the same for every client. */
const caching = '"ttlMs":3600000,"cacheScope":"public"';

class ToolServing {
  readonly ended: Promise<void>;
  readonly #deps: ServingDeps;
  readonly #server: ServedServer;
  readonly #identity: string;
  readonly #listText: string;
  readonly #running = new Map<string | number, AbortController>();
  #open = 0;
  #inputEnded = false;
  #protocolVersion: string | undefined;
  #end: () => void = () => {};

  constructor(deps: ServingDeps, server: ServedServer) {
    this.#deps = deps;
    this.#server = server;
    this.#identity = `"_meta":${JSON.stringify({ [metaKeys.serverInfo]: infoOf(server) })}`;
    this.#listText = `"tools":[${server.tools.map(toolText).join(',')}]`;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#listen();
  }

  close(): void {
    for (const running of this.#running.values()) running.abort();
    this.#end();
  }

  #listen(): void {
    const { input, output } = this.#deps;
    const reader = createLineReader(
      (bytes, start, end) => void this.#receive(bytes.toString('utf8', start, end)),
      maxMessageBytes,
    );
    input.on('data', (chunk: Buffer) => {
      if (!reader.push(chunk)) this.#giveUp();
    });
    const inputEnded = (): void => {
      this.#inputEnded = true;
      this.#settle();
    };
    input.once('end', inputEnded);
    input.once('close', inputEnded);
    input.on('error', inputEnded);
    // The client no longer reads, so there is nobody to work for.
    output.on('error', () => this.close());
  }

  #giveUp(): void {
    this.#deps.input.pause();
    this.#send(
      errorReply('null', new HubError('REQUEST_TOO_LARGE', `Messages are limited to ${maxMessageBytes} bytes.`)),
    );
    this.close();
  }

  async #receive(text: string): Promise<void> {
    this.#open++;
    try {
      const { batch, messages } = readBody(text);
      if (batch && this.#protocolVersion !== batchVersion) {
        throw new HubError('INVALID_REQUEST', 'Batches are not supported on this connection.');
      }
      const answers = await Promise.all(messages.map((message) => this.#handle(message)));
      const texts = answers.filter((answer) => answer !== undefined);
      if (texts.length > 0) this.#send(batch ? `[${texts.join(',')}]` : texts.join(''));
    } catch (error) {
      this.#send(errorReply('null', toHubError(error)));
    } finally {
      this.#open--;
      this.#settle();
    }
  }

  /** The response to one message; undefined if none is due. */
  async #handle(message: Message): Promise<string | undefined> {
    if (message.kind === 'invalid') return errorReply('null', new HubError('INVALID_REQUEST', message.reason));
    if (message.kind === 'response') return undefined;
    if (message.kind === 'notification') {
      if (message.method === 'notifications/cancelled') this.#cancel(message.params.requestId);
      return undefined;
    }
    try {
      const result = await this.#answer(message);
      return result === undefined ? undefined : resultReply(message.idText, result);
    } catch (error) {
      if (error instanceof HubError) return errorReply(message.idText, error);
      // The error of a bug may contain anything, so the client does not get it.
      this.#deps.logger.error('builtin.request-failed', { server: this.#server.name, error });
      return errorReply(message.idText, new HubError('INTERNAL', `The server failed on ${message.method}.`));
    }
  }

  #answer(request: Request): Promise<string | undefined> | string {
    const modern = classify(request, noHeaders) === 'modern';
    switch (request.method) {
      case 'tools/list':
        return modern ? this.#complete(`${this.#listText},${caching}`) : `{${this.#listText}}`;
      case 'tools/call':
        return this.#call(request, modern);
      case 'server/discover':
        if (modern) return this.#complete(`${this.#portrait({ supportedVersions: modernVersions })},${caching}`);
        break;
      case 'initialize':
        return this.#greet(request);
      case 'ping':
        if (!modern) return '{}';
        break;
    }
    throw new HubError('METHOD_NOT_FOUND', `Method not found: ${request.method.slice(0, 200)}`);
  }

  #greet({ params }: Request): string {
    this.#protocolVersion = negotiateLegacy(params.protocolVersion, legacyConnectionVersions);
    const protocolVersion = this.#protocolVersion;
    return `{${this.#portrait({ protocolVersion, serverInfo: infoOf(this.#server) })}}`;
  }

  #portrait(more: Readonly<Record<string, unknown>>): string {
    const { instructions } = this.#server;
    return JSON.stringify({ ...more, capabilities: { tools: {} }, instructions }).slice(1, -1);
  }

  /** Modern results state that they are complete, and which server sent them. */
  #complete(members: string): string {
    return `{"resultType":"complete",${members},${this.#identity}}`;
  }

  async #call({ id, params }: Request, modern: boolean): Promise<string | undefined> {
    const tool = this.#server.tools.find(({ name }) => name === params.name);
    if (tool === undefined) {
      throw new HubError('TOOL_UNKNOWN', `There is no tool ${JSON.stringify(params.name)?.slice(0, 100)}.`);
    }
    const running = new AbortController();
    this.#running.set(id, running);
    try {
      const members = await runTool(tool, params.arguments ?? {}, { signal: running.signal, agent: agentOf(params) });
      // A cancelled request gets no response.
      if (running.signal.aborted) return undefined;
      return modern ? this.#complete(members) : `{${members}}`;
    } finally {
      if (this.#running.get(id) === running) this.#running.delete(id);
    }
  }

  #cancel(id: unknown): void {
    if (typeof id === 'string' || typeof id === 'number') this.#running.get(id)?.abort();
  }

  #send(text: string): void {
    const { input, output } = this.#deps;
    if (output.write(`${text}\n`) || input.isPaused()) return;
    // Stop reading from a client that does not read.
    input.pause();
    output.once('drain', () => input.resume());
  }

  #settle(): void {
    if (this.#inputEnded && this.#open === 0) this.#end();
  }
}

/** Members of the result. Invalid arguments are reported to the model, too. */
function agentOf({ _meta }: Request['params']): string | undefined {
  const agent = isJsonObject(_meta) ? _meta[callingAgentKey] : undefined;
  return typeof agent === 'string' ? agent : undefined;
}

async function runTool(tool: ServedTool, args: unknown, context: ToolContext): Promise<string> {
  const parsed = tool.input.safeParse(args);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const where = issue === undefined || issue.path.length === 0 ? 'The arguments' : `"${issue.path.join('.')}"`;
    return faultMembers(`${where} of ${tool.name} cannot be used: ${issue?.message ?? 'they have another shape'}.`);
  }
  try {
    const { text, structured } = await tool.run(parsed.data, context);
    const content = `"content":[${JSON.stringify({ type: 'text', text })}]`;
    return structured === undefined ? content : `${content},"structuredContent":${JSON.stringify(structured)}`;
  } catch (error) {
    if (error instanceof ToolFault) return faultMembers(error.message);
    throw error;
  }
}

function faultMembers(text: string): string {
  return `"content":[${JSON.stringify({ type: 'text', text })}],"isError":true`;
}

function infoOf({ name, title, version }: ServedServer): Readonly<Record<string, string>> {
  return { name, title, version };
}
