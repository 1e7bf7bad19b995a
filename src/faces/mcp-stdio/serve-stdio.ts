import { isUtf8 } from 'node:buffer';
import type { Readable, Writable } from 'node:stream';
import { type Clock, HubError, type Logger, type Timer, toHubError } from '../../base/index.ts';
import type { Call } from '../../calls/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import {
  type Body,
  classify,
  createLineReader,
  type Era,
  errorReply,
  type Message,
  notification,
  readBody,
  resultReply,
} from '../../mcp/index.ts';
import {
  callAnswer,
  callTool,
  discoverResult,
  emptyResult,
  honoredFilter,
  initializeResult,
  listTools,
  methodNotFound,
  type Request,
  subscriptionEnd,
  subscriptionMessage,
  toolsChanged,
} from '../mcp/index.ts';

export interface StdioFaceDeps {
  readonly hub: Hub;
  readonly caller: Caller;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly input: Readable;
  readonly output: Writable;
}

const gatherMs = 50;
const noHeaders = { protocolVersion: undefined, method: undefined, name: undefined };

/** One agent's view as an MCP server on a pair of pipes. Resolves when the client is gone. */
export function serveStdio(deps: StdioFaceDeps): { readonly ended: Promise<void>; close(): void } {
  const face = new StdioFace(deps);
  return { ended: face.run(), close: () => face.close() };
}

class StdioFace {
  readonly #deps: StdioFaceDeps;
  /** The first message decides for the whole connection. */
  #era: Era | undefined;
  readonly #calls = new Map<string | number, Call>();
  readonly #subscriptions = new Map<string | number, string>();
  #toolsText: string | undefined;
  #gathering: Timer | undefined;
  #end: () => void = () => {};

  constructor(deps: StdioFaceDeps) {
    this.#deps = deps;
  }

  run(): Promise<void> {
    const { input, output, hub } = this.#deps;
    const lines = createLineReader((line) => this.#receive(line), hub.fleet.serve.maxBodyBytes);
    const stop = hub.views.onRenew(() => {
      this.#gathering ??= this.#deps.clock.setTimer(gatherMs, () => this.#announce());
    });
    return new Promise((resolve) => {
      this.#end = () => {
        stop();
        this.#gathering?.cancel();
        resolve();
      };
      input.on('data', (chunk: Buffer) => {
        if (lines.push(chunk)) return;
        this.#send(errorReply('null', new HubError('REQUEST_TOO_LARGE', 'The message is over the size limit.')));
        this.#end();
      });
      input.once('end', this.#end);
      input.once('close', this.#end);
      output.once('error', this.#end);
    });
  }

  close(): void {
    for (const idText of this.#subscriptions.values()) this.#send(subscriptionEnd(idText));
    this.#subscriptions.clear();
    this.#end();
  }

  #send(text: string): void {
    this.#deps.output.write(`${text}\n`);
  }

  #receive(line: Buffer): void {
    let body: Body;
    try {
      if (!isUtf8(line)) throw new HubError('PARSE_ERROR', 'The message is not valid UTF-8.');
      const text = line.toString('utf8');
      if (text.trim() === '') return;
      body = readBody(text);
    } catch (error) {
      this.#send(errorReply('null', toHubError(error)));
      return;
    }
    if (body.batch) {
      this.#send(errorReply('null', new HubError('INVALID_REQUEST', 'Batches are not supported over stdio.')));
      return;
    }
    for (const message of body.messages) void this.#handle(message);
  }

  async #handle(message: Message): Promise<void> {
    if (message.kind === 'invalid') {
      this.#send(errorReply('null', new HubError('INVALID_REQUEST', `Not a JSON-RPC message: ${message.reason}.`)));
    } else if (message.kind === 'notification') this.#notified(message);
    else if (message.kind === 'request') {
      try {
        const answer = await this.#answer(message);
        if (answer !== undefined) this.#send(answer);
      } catch (error) {
        const known = toHubError(error);
        if (known.code === 'INTERNAL') this.#deps.logger.error('stdio_request_failed', { error: known.message });
        this.#send(errorReply(message.idText, known));
      }
    }
  }

  async #answer(request: Request): Promise<string | undefined> {
    const { hub, caller } = this.#deps;
    const era = this.#eraOf(request);
    switch (request.method) {
      case 'tools/call':
        return this.#call(request, era);
      case 'tools/list':
        this.#toolsText ??= hub.views.of(caller.chain).toolsText;
        return listTools(hub, caller, request, era);
      case 'ping':
        if (era === 'modern') throw methodNotFound(request);
        return resultReply(request.idText, emptyResult);
      case 'initialize':
        if (era === 'modern') throw methodNotFound(request);
        this.#toolsText ??= hub.views.of(caller.chain).toolsText;
        void hub.views.settled(caller.chain);
        return resultReply(request.idText, initializeResult(request.params).text);
      case 'server/discover':
        if (era === 'legacy') throw methodNotFound(request);
        void hub.views.settled(caller.chain);
        return resultReply(request.idText, discoverResult());
      case 'subscriptions/listen':
        if (era === 'legacy') throw methodNotFound(request);
        return this.#listen(request);
      default:
        throw methodNotFound(request);
    }
  }

  /** A modern claim is checked on every message; without one the connection is legacy for good. */
  #eraOf(request: Request): Era {
    const claimed = classify(request, noHeaders);
    this.#era ??= claimed;
    // A client may ask the modern question first and fall back to the handshake.
    if (request.method === 'initialize' && claimed === 'legacy') this.#era = 'legacy';
    if (claimed === 'legacy' && this.#era === 'modern') {
      throw new HubError('INVALID_PARAMS', 'Every request of this connection must name its protocol version.');
    }
    return this.#era;
  }

  async #call(request: Request, era: Era): Promise<string> {
    const { hub, caller } = this.#deps;
    const { call, result } = callTool(hub, caller, request, (message) => this.#send(message));
    this.#calls.set(request.id, call);
    try {
      return callAnswer(request.idText, await result, era);
    } finally {
      this.#calls.delete(request.id);
    }
  }

  #listen(request: Request): string | undefined {
    const honored = honoredFilter(request.params);
    const { idText } = request;
    const members = `"notifications":${JSON.stringify(honored)}`;
    this.#send(subscriptionMessage('notifications/subscriptions/acknowledged', idText, members));
    if (honored.toolsListChanged === undefined) return subscriptionEnd(idText);
    this.#toolsText ??= this.#deps.hub.views.of(this.#deps.caller.chain).toolsText;
    this.#subscriptions.set(request.id, idText);
    return undefined;
  }

  #notified(message: Message & { kind: 'notification' }): void {
    if (message.method !== 'notifications/cancelled') return;
    const { requestId, reason } = message.params;
    const id = requestId as string | number; // anything else is not a key
    this.#subscriptions.delete(id);
    this.#calls.get(id)?.cancel(typeof reason === 'string' ? reason.slice(0, 200) : 'by the client');
  }

  #announce(): void {
    this.#gathering = undefined;
    const { toolsText } = this.#deps.hub.views.of(this.#deps.caller.chain);
    if (this.#toolsText === undefined || this.#toolsText === toolsText) return;
    this.#toolsText = toolsText;
    if (this.#era === 'legacy') this.#send(notification(toolsChanged));
    for (const idText of this.#subscriptions.values()) this.#send(subscriptionMessage(toolsChanged, idText));
  }
}
