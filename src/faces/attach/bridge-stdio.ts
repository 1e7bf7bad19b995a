import { isUtf8 } from 'node:buffer';
import type { Duplex, Readable, Writable } from 'node:stream';
import { createId, HubError, type Logger, type RandomBytes, toHubError } from '../../base/index.ts';
import { type Body, createBoundedLines, errorReply, readBody } from '../../mcp/index.ts';
import { ClientMemory } from './client-memory.ts';
import { HubLines, type LineHead, maxIdBytes } from './hub-lines.ts';

/** Requests that wait for the next hub; with more, the client's input waits. */
const maxWaitingBytes = 4 * 1024 * 1024;

/** A hub that speaks to the client over a stream. */
export interface BridgedHub {
  readonly stream: Duplex;
  readonly maxLineBytes: number;
}

export interface BridgeDeps {
  readonly input: Readable;
  readonly output: Writable;
  readonly logger: Logger;
  readonly random: RandomBytes;
  /** Finds another hub after one was lost. With `replaced`, one is about to start. Rejects if there is none. */
  reconnect(stop: AbortSignal, replaced: boolean): Promise<BridgedHub>;
}

/** Passes the messages of one client to a hub, and to another one when the first is lost. */
export function bridgeStdio(deps: BridgeDeps, hub: BridgedHub): { readonly ended: Promise<void>; close(): void } {
  const bridge = new StdioBridge(deps, hub);
  return { ended: bridge.run(), close: () => bridge.close() };
}

class StdioBridge {
  readonly #deps: BridgeDeps;
  readonly #memory = new ClientMemory();
  readonly #stop = new AbortController();
  /** Marks requests that the bridge sends by itself. */
  readonly #mark: string;
  #lastId = 0;
  #hub: BridgedHub | undefined;
  #inputEnded = false;
  /** Requests for the next hub, while this one makes room for it. Undefined otherwise. */
  #waiting: Buffer[] | undefined;
  #waitingBytes = 0;
  #isReplaced = false;
  #end: (error?: unknown) => void = () => {};

  constructor(deps: BridgeDeps, hub: BridgedHub) {
    this.#deps = deps;
    this.#hub = hub;
    this.#mark = `"qm-replay-${createId(deps.random, 10)}-`;
  }

  async run(): Promise<void> {
    const { input, output } = this.#deps;
    const first = this.#hub as BridgedHub; // set by the constructor
    const take = createBoundedLines(
      { onLine: (line) => this.#receive(line), onTooLong: () => this.#answer(errorReply('null', tooLong())) },
      first.maxLineBytes,
    );
    const ended = new Promise<void>((resolve, reject) => {
      this.#end = (error) => {
        this.#stop.abort();
        input.off('data', take).pause();
        if (error === undefined) resolve();
        else reject(error);
      };
    });
    const close = (): void => this.#end();
    input.once('end', () => this.#finish()).once('close', () => this.#finish());
    input.on('error', close);
    output.on('error', close).once('close', close);
    this.#join(first);
    input.on('data', take);
    try {
      await ended;
    } finally {
      const hub = this.#hub;
      this.#hub = undefined;
      hub?.stream.destroy();
    }
  }

  close(): void {
    this.#end();
  }

  #join(hub: BridgedHub): void {
    const { output } = this.#deps;
    const { stream } = hub;
    this.#hub = hub;
    const lines = new HubLines({
      onLine: (head) => this.#passes(head),
      forward(bytes) {
        if (output.write(bytes) || stream.isPaused()) return;
        stream.pause();
        output.once('drain', () => stream.resume());
      },
    });
    const lost = (): void => {
      if (lines.isWithin && this.#hub === hub) output.write('\n');
      this.#leave(hub);
    };
    stream.on('data', (chunk: Buffer) => {
      lines.take(chunk);
      if (!lines.isWithin) this.#leaveIfDone();
    });
    stream.on('drain', () => this.#resumeInput());
    stream.on('error', () => stream.destroy());
    stream.once('end', lost).once('close', lost);
    stream.resume();
  }

  /** Whether the line is for the client. */
  #passes(head: LineHead | undefined): boolean {
    if (head === undefined) return true;
    if (head.idText === '') {
      this.#waiting ??= [];
      this.#isReplaced = head.next === 'replaced';
      return false;
    }
    if (!head.idText.startsWith(this.#mark)) {
      this.#memory.received(head);
      return true;
    }
    if (head.next === 'error') this.#deps.logger.warn('hub.state-not-restored', { id: head.idText });
    return false;
  }

  /** The hub asked to be left, and has answered everything that must not be sent twice. */
  #leaveIfDone(): void {
    if (this.#waiting !== undefined && this.#hub !== undefined && this.#memory.openCalls === 0) this.#leave(this.#hub);
  }

  #leave(hub: BridgedHub): void {
    if (this.#hub !== hub) return;
    this.#hub = undefined;
    this.#lost(hub).catch(this.#end);
  }

  async #lost(hub: BridgedHub): Promise<void> {
    const { input, logger, reconnect } = this.#deps;
    if (this.#stop.signal.aborted) return;
    input.pause();
    hub.stream.destroy();
    const isOver = this.#inputEnded && (this.#waiting ?? []).length === 0;
    if (isOver && this.#memory.open === 0) {
      this.#end();
      return;
    }
    const { openCalls } = this.#memory;
    if (openCalls > 0 || this.#waiting === undefined) logger.warn('hub.lost', { openCalls });
    for (const line of this.#memory.lost()) this.#answer(line);
    if (isOver) {
      this.#end();
      return;
    }
    const next = await reconnect(this.#stop.signal, this.#isReplaced);
    this.#isReplaced = false;
    if (this.#stop.signal.aborted) {
      next.stream.destroy();
      return;
    }
    const replay = this.#memory.replay(() => `${this.#mark}${++this.#lastId}"`);
    this.#join(next);
    for (const line of replay) next.stream.write(`${line}\n`);
    for (const line of this.#memory.announcements()) this.#answer(line);
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    this.#waitingBytes = 0;
    input.resume();
    for (const line of waiting) this.#receive(line);
    if (this.#inputEnded) next.stream.end();
  }

  /** No more requests will arrive; the hub answers those that did, and ends. */
  #finish(): void {
    if (this.#inputEnded) return;
    this.#inputEnded = true;
    if (this.#hub === undefined) this.#end();
    else this.#hub.stream.end();
  }

  #receive(line: Buffer): void {
    const body = readSafely(line);
    if (this.#waiting !== undefined && body?.messages.some(({ kind }) => kind === 'request') !== false) {
      this.#wait(this.#waiting, line);
      return;
    }
    const refusal = body === undefined ? undefined : this.#note(line, body);
    const stream = this.#hub?.stream;
    if (refusal !== undefined) this.#answer(refusal);
    else if (stream !== undefined && !stream.write(Buffer.concat([line, newline]))) this.#deps.input.pause();
  }

  /** Answers to the hub and notifications still pass: a call in flight may need them to end. */
  #wait(waiting: Buffer[], line: Buffer): void {
    waiting.push(Buffer.from(line));
    this.#waitingBytes += line.length;
    if (this.#waitingBytes > maxWaitingBytes) this.#deps.input.pause();
  }

  #resumeInput(): void {
    if (this.#waitingBytes <= maxWaitingBytes) this.#deps.input.resume();
  }

  /** The answer to a message that is not passed on. The hub itself answers one that cannot be read. */
  #note(line: Buffer, body: Body): string | undefined {
    const [request] = body.messages.filter((message) => message.kind === 'request');
    if (
      request !== undefined &&
      body.messages.some((each) => each.kind === 'request' && each.idText.length > maxIdBytes)
    )
      return errorReply('null', new HubError('INVALID_REQUEST', 'The id of the request is too long.'));
    const refusal = this.#memory.sent(body.messages, line.toString('utf8'));
    return refusal === undefined ? undefined : errorReply(request?.idText ?? 'null', refusal);
  }

  #answer(text: string): void {
    const { output } = this.#deps;
    if (!output.destroyed && !output.writableEnded) output.write(`${text}\n`);
  }
}

const newline = Buffer.from('\n');

function readSafely(line: Buffer): Body | undefined {
  if (!isUtf8(line)) return undefined;
  try {
    return readBody(line.toString('utf8'));
  } catch (error) {
    if (toHubError(error).code === 'INTERNAL') throw error;
    return undefined;
  }
}

function tooLong(): HubError {
  return new HubError('REQUEST_TOO_LARGE', 'The message is over the size limit.', {
    hint: 'Send less, or raise serve.maxBodyBytes.',
  });
}
