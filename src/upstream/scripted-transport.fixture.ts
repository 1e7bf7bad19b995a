import { type HubError, isJsonObject } from '../base/index.ts';
import type { TransportKind } from '../domain/index.ts';
import { readUpstreamMessage } from '../mcp/index.ts';
import { cancelled } from './failures.ts';
import { type Envelope, legacyEnvelope, type ResultReply, type Transport, type UpstreamReply } from './transport.ts';

/** A transport without a server: the test answers. */
export interface ScriptedTransport extends Transport {
  readonly asked: readonly ScriptedRequest[];
  readonly said: readonly string[];
  readonly envelope: Envelope;
  closed: boolean;
  /** The newest request of that method. */
  last(method: string): ScriptedRequest;
  /** The result of `notify`. Undefined as on transports without an acknowledgement. */
  taken: Promise<void> | undefined;
}

export interface ScriptedRequest {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  /** The protocol version at the time of the request. */
  readonly envelope: Envelope;
  readonly cancelledBy: HubError | undefined;
  answer(reply: UpstreamReply): void;
}

export function createScriptedTransport(transport: TransportKind): ScriptedTransport {
  const asked: (ScriptedRequest & { cancelledBy: HubError | undefined })[] = [];
  const said: string[] = [];
  let envelope = legacyEnvelope('');
  return {
    kind: transport,
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
      let settle: (reply: UpstreamReply) => void = () => {};
      const reply = new Promise<UpstreamReply>((resolve) => {
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

export function resultOf(value: object): ResultReply {
  const message = readUpstreamMessage(JSON.stringify({ jsonrpc: '2.0', id: 1, result: value }));
  if (message.kind !== 'result') throw new Error('not a result');
  return message;
}

export function errorOf(code: number, message: string, data?: object): UpstreamReply {
  return { kind: 'error', id: 1, text: JSON.stringify({ code, message, data }), code, message };
}

/** Lets everything that waited for an answer continue. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}
