import { isUtf8 } from 'node:buffer';
import type { Readable, Writable } from 'node:stream';
import {
  type Clock,
  defectFields,
  HubError,
  type Logger,
  type RandomBytes,
  type Timer,
  toHubError,
} from '../../base/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import { type Body, createBoundedLines, errorReply, oneLine, readBody } from '../../mcp/index.ts';
import { Conversation } from '../mcp/index.ts';

export interface StdioFaceDeps {
  readonly hub: Hub;
  readonly caller: Caller;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: RandomBytes;
  readonly input: Readable;
  readonly output: Writable;
  /** When the client started this program, on the monotonic clock. */
  readonly startedAt?: number | undefined;
}

/** The hub reads no more from a client that leaves this much unread. */
const maxUnreadBytes = 4 * 1024 * 1024;
/** Large results that a client may leave unread; further ones become errors. */
const maxUnreadResultBytes = 64 * 1024 * 1024;
/** How long answers may take after the last request. */
const lastAnswersMs = 10_000;

/** Serves one agent as an MCP server on a pair of pipes. `ended` resolves when the client is gone and has its answers. */
export function serveStdio(deps: StdioFaceDeps): { readonly ended: Promise<void>; close(): void } {
  const face = new StdioFace(deps);
  return { ended: face.run(), close: () => face.close() };
}

class StdioFace {
  readonly #deps: StdioFaceDeps;
  readonly #conversation: Conversation;
  #inputEnded = false;
  #lastAnswers: Timer | undefined;
  #whenRead: Promise<void> | undefined;
  #end: () => void = () => {};

  constructor(deps: StdioFaceDeps) {
    this.#deps = deps;
    this.#conversation = new Conversation({
      ...deps,
      send: (message) => this.#send(message),
      caller: { ...deps.caller, answers: { reserve: (bytes) => this.#hasRoomFor(bytes) } },
      isBehind: () => this.#holdingBack,
      whenRead: () => this.#whenRead,
      onIdle: () => this.#inputEnded && this.#end(),
      onDefect: (error) => {
        deps.logger.error('client.defect-contained', defectFields(error));
        this.#end();
      },
    });
  }

  run(): Promise<void> {
    const { input, output, hub } = this.#deps;
    const take = createBoundedLines(
      { onLine: (line) => this.#receive(line), onTooLong: () => this.#send(errorReply('null', tooLong())) },
      hub.configuration.serve.maxBodyBytes,
    );
    return new Promise((resolve) => {
      this.#end = () => {
        this.#conversation.close();
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
    this.#end();
  }

  /** No more requests will arrive; those that did are still answered. */
  #finish(): void {
    if (this.#inputEnded) return;
    this.#inputEnded = true;
    if (this.#conversation.open === 0) this.#end();
    else this.#lastAnswers = this.#deps.clock.setTimer(lastAnswersMs, this.#end);
  }

  /** One message is one line: a line break would let its author send another message. */
  #send(text: string): void {
    const { input, output } = this.#deps;
    if (output.destroyed || output.writableEnded) return;
    output.write(`${oneLine(text)}\n`);
    if (this.#holdingBack || output.writableLength < maxUnreadBytes) return;
    input.pause();
    this.#whenRead = new Promise((resolve) => {
      output.once('drain', () => {
        this.#whenRead = undefined;
        input.resume();
        resolve();
      });
    });
  }

  get #holdingBack(): boolean {
    return this.#whenRead !== undefined;
  }

  /** One result alone always fits. */
  #hasRoomFor(bytes: number): boolean {
    const { writableLength } = this.#deps.output;
    return writableLength === 0 || writableLength + bytes <= maxUnreadResultBytes;
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
    this.#conversation.receive(body);
  }
}

function tooLong(): HubError {
  return new HubError('REQUEST_TOO_LARGE', 'The message is over the size limit.', {
    hint: 'Send less, or raise serve.maxBodyBytes.',
  });
}
