import { type HubError, isJsonObject } from '../base/index.ts';
import type { TransportKind } from '../domain/index.ts';
import { readUpstreamMessage } from '../mcp/index.ts';
import { cancelled } from './failures.ts';
import { type Envelope, legacyEnvelope, type Wire, type WireReply, type WireResult } from './wire.ts';

/** A wire without a server: the test answers, in whatever order and way it likes. */
export interface ScriptedWire extends Wire {
  readonly asked: readonly Asked[];
  readonly said: readonly string[];
  readonly envelope: Envelope;
  closed: boolean;
  /** The newest request of that method. */
  last(method: string): Asked;
  /** What notifications answer with; undefined as on transports that cannot tell. */
  taken: Promise<void> | undefined;
}

export interface Asked {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  /** What the wire spoke when it was asked. */
  readonly envelope: Envelope;
  readonly cancelledBy: HubError | undefined;
  answer(reply: WireReply): void;
}

export function createScriptedWire(transport: TransportKind): ScriptedWire {
  const asked: (Asked & { cancelledBy: HubError | undefined })[] = [];
  const said: string[] = [];
  let envelope = legacyEnvelope('');
  return {
    transport,
    sessionId: null,
    queuedBytes: 0,
    proven: false,
    asked,
    said,
    closed: false,
    get envelope() {
      return envelope;
    },
    request(request) {
      let settle: (reply: WireReply) => void = () => {};
      const reply = new Promise<WireReply>((resolve) => {
        settle = resolve;
      });
      const params: unknown = JSON.parse(`{${request.members}}`);
      const entry = {
        method: request.method,
        params: isJsonObject(params) ? params : {},
        timeoutMs: request.timeoutMs,
        envelope,
        cancelledBy: undefined as HubError | undefined,
        answer: settle,
      };
      asked.push(entry);
      return {
        reply,
        cancel(error) {
          entry.cancelledBy = error;
          settle(cancelled(error, true));
        },
      };
    },
    taken: undefined,
    notify(method) {
      said.push(method);
      return this.taken;
    },
    speak(next) {
      envelope = next;
    },
    openChangeStream: () => undefined,
    async close() {
      this.closed = true;
    },
    last(method) {
      const found = asked.findLast((entry) => entry.method === method);
      if (found === undefined) throw new Error(`nobody asked ${method}, but ${asked.map((entry) => entry.method)}`);
      return found;
    },
  };
}

export function resultOf(value: object): WireResult {
  const message = readUpstreamMessage(JSON.stringify({ jsonrpc: '2.0', id: 1, result: value }));
  if (message.kind !== 'result') throw new Error('not a result');
  return message;
}

export function errorOf(code: number, message: string, data?: object): WireReply {
  return { kind: 'error', id: 1, text: JSON.stringify({ code, message, data }), code, message };
}

/** Lets everything that was waiting for an answer go on. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}
