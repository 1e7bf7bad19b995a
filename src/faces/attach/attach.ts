import { connect, type Socket } from 'node:net';
import { type Clock, type ErrorCode, errorTable, HubError, version } from '../../base/index.ts';
import {
  type AttachAnswer,
  type AttachRequest,
  attachAnswerSchema,
  attachApi,
  attachMs,
  maxAttachBytes,
} from './attach-protocol.ts';
import { readFirstLine } from './first-line.ts';

export type AttachOrder = Omit<AttachRequest, 'api' | 'version'>;

export interface Attached extends Extract<AttachAnswer, { ok: true }> {
  /** Paused; what the hub sends after its first line is still in it. */
  readonly socket: Socket;
}

/** Joins the hub that listens at this path. Throws HubError if it refuses; other errors if nobody answers. */
export async function attachTo(path: string, order: AttachOrder, clock: Clock): Promise<Attached> {
  const socket = await open(path);
  const request: AttachRequest = { api: attachApi, version, ...order };
  socket.write(`${JSON.stringify(request)}\n`);
  const line = await readFirstLine(socket, clock, { maxBytes: maxAttachBytes, timeoutMs: attachMs });
  const answer = attachAnswerSchema.safeParse(line === undefined ? undefined : parseJson(line));
  if (answer.success && answer.data.ok) return { ...answer.data, socket };
  socket.destroy();
  if (!answer.success) throw new Error('the hub did not answer on its control socket');
  const { code, message, hint } = answer.data as Extract<AttachAnswer, { ok: false }>; // the other case returned
  throw new HubError(knownCode(code), message, hint === undefined ? {} : { hint });
}

function open(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path, allowHalfOpen: true }, () => {
      socket.off('error', reject);
      // From here on the end of the connection says it all.
      socket.on('error', () => socket.destroy());
      resolve(socket);
    });
    socket.once('error', reject);
  });
}

export interface OutcomeOptions {
  /** For one line. */
  readonly maxBytes: number;
  /** From one line to the next. */
  readonly timeoutMs: number;
  /** What happens before the outcome. */
  onEvent?(event: unknown): void;
}

/** The outcome of an operation, as if it had happened here. */
export async function readOutcome({ socket }: Attached, clock: Clock, options: OutcomeOptions): Promise<unknown> {
  try {
    for (;;) {
      const line = await readFirstLine(socket, clock, options);
      const outcome = (line === undefined ? {} : parseJson(line)) as Partial<Outcome>; // written by the same program
      if (outcome.error !== undefined) {
        const { code, message, hint, details = {} } = outcome.error;
        throw new HubError(knownCode(code), message, { details, ...(hint === undefined ? {} : { hint }) });
      }
      if ('result' in outcome) return outcome.result;
      if (!('event' in outcome)) {
        throw new HubError('HUB_LOST', 'The hub was lost before it answered.', { hint: 'Try again.' });
      }
      options.onEvent?.(outcome.event);
    }
  } finally {
    socket.destroy();
  }
}

interface Outcome {
  readonly result: unknown;
  readonly event: unknown;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly hint?: string;
    readonly details?: Readonly<Record<string, unknown>>;
  };
}

function knownCode(code: string): ErrorCode {
  return Object.hasOwn(errorTable, code) ? (code as ErrorCode) : 'INTERNAL'; // checked
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
