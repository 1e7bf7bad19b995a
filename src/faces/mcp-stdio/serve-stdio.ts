import { isUtf8 } from 'node:buffer';
import type { Readable, Writable } from 'node:stream';
import { type Clock, HubError, type Logger, type Timer, toHubError } from '../../base/index.ts';
import type { Call } from '../../calls/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import {
  type Body,
  classify,
  type Era,
  errorReply,
  type Message,
  notification,
  readBody,
  resultReply,
} from '../../mcp/index.ts';
import {
  batchVersion,
  callAnswer,
  callTool,
  discoverResult,
  emptyResult,
  honoredFilter,
  initializeResult,
  invalidMessage,
  listTools,
  methodNotFound,
  type Request,
  subscriptionEnd,
  subscriptionMessage,
  toolsChanged,
  wantsProgress,
} from '../mcp/index.ts';
import { createBoundedLines } from './bounded-lines.ts';

export interface StdioFaceDeps {
  readonly hub: Hub;
  readonly caller: Caller;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly input: Readable;
  readonly output: Writable;
}

const gatherMs = 50;
/** What a client may leave unread before nothing more is taken from it. */
const maxUnreadBytes = 4 * 1024 * 1024;
/** How long requests may take to be answered after the last one came. */
const lastAnswersMs = 10_000;
const noHeaders = { protocolVersion: undefined, method: undefined, name: undefined };

/** One agent's view as an MCP server on a pair of pipes. Ended when the client is gone and has its answers. */
export function serveStdio(deps: StdioFaceDeps): { readonly ended: Promise<void>; close(): void } {
  const face = new StdioFace(deps);
  return { ended: face.run(), close: () => face.close() };
}

class StdioFace {
  readonly #deps: StdioFaceDeps;
  /** The first message decides for the whole connection. */
  #era: Era | undefined;
  #protocolVersion: string | undefined;
  readonly #calls = new Map<string | number, Call>();
  /** Calls that the client has cancelled: it expects no answer. */
  readonly #unwanted = new Set<Call>();
  readonly #subscriptions = new Map<string | number, { readonly idText: string; readonly toolsListChanged?: true }>();
  #toolsText: string | undefined;
  #gathering: Timer | undefined;
  /** Requests that have no answer yet. */
  #open = 0;
  #inputEnded = false;
  #lastAnswers: Timer | undefined;
  #holdingBack = false;
  #end: () => void = () => {};

  constructor(deps: StdioFaceDeps) {
    this.#deps = deps;
  }

  run(): Promise<void> {
    const { input, output, hub, clock } = this.#deps;
    const take = createBoundedLines(
      { onLine: (line) => this.#receive(line), onTooLong: () => this.#send(errorReply('null', tooLong())) },
      hub.fleet.serve.maxBodyBytes,
    );
    const stop = hub.views.onRenew(() => {
      this.#gathering ??= clock.setTimer(gatherMs, () => this.#announce());
    });
    return new Promise((resolve) => {
      this.#end = () => {
        stop();
        this.#gathering?.cancel();
        this.#lastAnswers?.cancel();
        input.off('data', take).pause();
        resolve();
      };
      input.on('data', take);
      input.once('end', () => this.#finish());
      input.once('close', () => this.#finish());
      input.on('error', this.#end);
      output.on('error', this.#end);
      output.once('close', this.#end);
    });
  }

  close(): void {
    for (const { idText } of this.#subscriptions.values()) this.#send(subscriptionEnd(idText));
    this.#subscriptions.clear();
    this.#end();
  }

  /** No more requests will come; those that came are still answered. */
  #finish(): void {
    if (this.#inputEnded) return;
    this.#inputEnded = true;
    if (this.#open === 0) this.#end();
    else this.#lastAnswers = this.#deps.clock.setTimer(lastAnswersMs, this.#end);
  }

  #send(text: string): void {
    const { input, output } = this.#deps;
    output.write(`${text}\n`);
    if (this.#holdingBack || output.writableLength < maxUnreadBytes) return;
    this.#holdingBack = true;
    input.pause();
    output.once('drain', () => {
      this.#holdingBack = false;
      input.resume();
    });
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
    const first = body.messages[0];
    if (body.batch) void this.#batch(body.messages);
    else if (first !== undefined) void this.#single(first);
  }

  async #single(message: Message): Promise<void> {
    const answer = await this.#handle(message);
    if (answer !== undefined) this.#send(answer);
    this.#answered();
  }

  async #batch(messages: readonly Message[]): Promise<void> {
    if (this.#protocolVersion !== batchVersion || messages.length === 0) {
      this.#send(errorReply('null', new HubError('INVALID_REQUEST', 'This connection has no batches.')));
      return;
    }
    const answers = await Promise.all(messages.map((message) => this.#handle(message)));
    const texts = answers.filter((answer) => answer !== undefined);
    if (texts.length > 0) this.#send(`[${texts.join(',')}]`);
    this.#answered();
  }

  #answered(): void {
    if (this.#inputEnded && this.#open === 0) this.#end();
  }

  /** The answer to one message; undefined where none is due. */
  async #handle(message: Message): Promise<string | undefined> {
    switch (message.kind) {
      case 'invalid':
        return errorReply('null', invalidMessage(message.reason));
      case 'notification':
        this.#notified(message);
        return undefined;
      case 'response':
        return undefined;
      case 'request':
        this.#open++;
        try {
          return await this.#answer(message);
        } catch (error) {
          const known = toHubError(error);
          if (known.code === 'INTERNAL') this.#deps.logger.error('stdio_request_failed', { error: known.message });
          return errorReply(message.idText, known);
        } finally {
          this.#open--;
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
        return this.#initialize(request);
      case 'server/discover':
        if (era === 'legacy') throw methodNotFound(request);
        return resultReply(request.idText, await discoverResult(hub, caller));
      case 'subscriptions/listen':
        if (era === 'legacy') throw methodNotFound(request);
        return this.#listen(request);
      default:
        throw methodNotFound(request);
    }
  }

  async #initialize(request: Request): Promise<string> {
    const { hub, caller } = this.#deps;
    const { protocolVersion, text } = await initializeResult(hub, caller, request.params);
    this.#protocolVersion = protocolVersion;
    // From here on: nothing may be announced before this answer.
    this.#toolsText ??= hub.views.of(caller.chain).toolsText;
    return resultReply(request.idText, text);
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

  async #call(request: Request, era: Era): Promise<string | undefined> {
    const { hub, caller } = this.#deps;
    const between = wantsProgress(request) ? (message: string) => this.#sendBetween(message) : undefined;
    const { call, result } = callTool(hub, caller, request, between);
    this.#calls.set(request.id, call);
    const outcome = await result;
    // The id may belong to a later call by now.
    if (this.#calls.get(request.id) === call) this.#calls.delete(request.id);
    return this.#unwanted.delete(call) ? undefined : callAnswer(request.idText, outcome, era);
  }

  /** Messages in between are worth nothing to a client that is behind with reading. */
  #sendBetween(message: string): void {
    if (!this.#holdingBack) this.#send(message);
  }

  #listen(request: Request): string | undefined {
    const honored = honoredFilter(request.params);
    const { idText } = request;
    const members = `"notifications":${JSON.stringify(honored)}`;
    this.#send(subscriptionMessage('notifications/subscriptions/acknowledged', idText, members));
    this.#toolsText ??= this.#deps.hub.views.of(this.#deps.caller.chain).toolsText;
    this.#subscriptions.set(request.id, { idText, ...honored });
    return undefined;
  }

  #notified(message: Message & { kind: 'notification' }): void {
    if (message.method !== 'notifications/cancelled') return;
    const { requestId, reason } = message.params;
    const id = requestId as string | number; // anything else is not a key
    this.#subscriptions.delete(id);
    const call = this.#calls.get(id);
    if (call === undefined) return;
    this.#unwanted.add(call);
    call.cancel(typeof reason === 'string' ? reason.slice(0, 200) : 'by the client');
  }

  #announce(): void {
    this.#gathering = undefined;
    const { hub, caller } = this.#deps;
    const { toolsText, unseen } = hub.views.of(caller.chain);
    if (this.#toolsText === undefined) return;
    // Of a server that was just added there is nothing to tell until it was asked, and who waits for word does not ask.
    if (unseen.length > 0) void hub.views.settled(caller.chain);
    if (this.#toolsText === toolsText) return;
    this.#toolsText = toolsText;
    if (this.#era === 'legacy') this.#send(notification(toolsChanged));
    for (const { idText, toolsListChanged } of this.#subscriptions.values()) {
      if (toolsListChanged) this.#send(subscriptionMessage(toolsChanged, idText));
    }
  }
}

function tooLong(): HubError {
  return new HubError('REQUEST_TOO_LARGE', 'The message is over the size limit.', {
    hint: 'Send less, or raise serve.maxBodyBytes.',
  });
}
