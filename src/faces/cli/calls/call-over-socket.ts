import { type ErrorCode, errorTable, HubError, isJsonObject, version } from '../../../base/index.ts';
import type { CallRequest, CallResult } from '../../../calls/index.ts';
import { createBoundedLines, oneLine } from '../../../mcp/index.ts';
import type { Attached } from '../../attach/index.ts';

export interface StartedCliCall {
  readonly result: Promise<CallResult>;
  cancel(reason: string): void;
}

interface SocketCall {
  readonly name: string;
  readonly argumentsText: string;
  readonly channel: CallRequest['channel'];
  readonly capabilities: object;
}

interface Received {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

const maxAnswerBytes = 256 * 1024 * 1024;
const protocolVersion = '2025-11-25';
const callId = 1;

/** Calls one tool over an attached connection, as an MCP client, and ends the connection. */
export function callOverSocket({ socket }: Attached, call: SocketCall): StartedCliCall {
  const { channel } = call;
  let settle: (result: CallResult) => void = () => {};
  const result = new Promise<CallResult>((resolve) => {
    settle = (outcome) => {
      resolve(outcome);
      socket.end();
    };
  });
  const fail = (error: HubError): void => settle({ kind: 'failed', error });
  const say = (message: string): void => void (socket.writable && socket.write(`${message}\n`));

  async function answer({ id, method = '', params = {} }: Received): Promise<void> {
    const asked = await channel?.ask?.({ method, params, paramsText: JSON.stringify(params) });
    const text = asked ?? { kind: 'error', text: '{"code":-32601,"message":"Nobody is at the terminal"}' };
    say(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"${text.kind}":${text.text}}`);
  }

  function take(line: Buffer): void {
    const text = line.toString('utf8');
    const message = JSON.parse(text) as Received; // written by the hub
    if (message.method === 'notifications/progress') channel?.progress?.(message.params ?? {});
    else if (message.method !== undefined && message.id !== undefined) void answer(message);
    else if (message.error !== undefined && (message.id === callId || message.id === null))
      settle(failure(message.error));
    else if (message.id === callId)
      settle({
        kind: 'result',
        result: { kind: 'result', id: callId, text: resultText(text), value: message.result ?? {} },
      });
  }

  socket.on('data', createBoundedLines({ onLine: take, onTooLong: () => fail(lost()) }, maxAnswerBytes));
  socket.once('end', () => fail(lost())).once('close', () => fail(lost()));
  const clientInfo = { name: 'qm', version };
  say(request(0, 'initialize', JSON.stringify({ protocolVersion, capabilities: call.capabilities, clientInfo })));
  say('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  const meta = channel?.progress === undefined ? '' : `,"_meta":{"progressToken":${callId}}`;
  const params = `{"name":${JSON.stringify(call.name)},"arguments":${oneLine(call.argumentsText)}${meta}}`;
  say(request(callId, 'tools/call', params));
  socket.resume();
  return {
    result,
    cancel(reason) {
      const cancelled = { requestId: callId, reason };
      say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":${JSON.stringify(cancelled)}}`);
      fail(new HubError('CANCELLED', `The call was cancelled: ${reason}.`));
    },
  };
}

function request(id: number, method: string, paramsText: string): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${paramsText}}`;
}

/** The hub puts the result last, so its text is what remains. */
function resultText(line: string): string {
  return line.slice(`{"jsonrpc":"2.0","id":${callId},"result":`.length, line.lastIndexOf('}'));
}

/** An error of the hub, or of the server itself. */
function failure(error: NonNullable<Received['error']>): CallResult {
  const { code, message, data } = error;
  const own = isJsonObject(data) && typeof data.code === 'string' ? data.code : '';
  const { code: _, retryable: __, ...details } = isJsonObject(data) ? data : {};
  if (Object.hasOwn(errorTable, own) && errorTable[own as ErrorCode].jsonRpc === code) {
    return { kind: 'failed', error: new HubError(own as ErrorCode, message, { details }) }; // checked
  }
  return { kind: 'error', code, message, text: JSON.stringify(error) };
}

function lost(): HubError {
  return new HubError('HUB_LOST', 'The hub was lost; the call may have run.', {
    hint: 'Look at its effect or at `qm calls` before you repeat it.',
  });
}
