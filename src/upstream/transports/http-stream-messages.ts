import { contain, defectFields } from '../../base/index.ts';
import {
  type ClientResponse,
  notSupported,
  type ServerRequest,
  type UpstreamMessage,
  unanswered,
} from '../../mcp/index.ts';
import type { CallDeadlines } from '../connecting/deadlines.ts';
import { answerMessage, isPing, pong } from './answer-to-server.ts';
import type { ExchangeOptions } from './http-exchange.ts';

/** A message of the server that is not the answer. */
export type StreamMessage = UpstreamMessage & { readonly kind: 'request' | 'notification' };

type StreamMessageOptions = Pick<ExchangeOptions, 'logger' | 'server' | 'id' | 'request' | 'onNotification' | 'ways'>;

/** Routes the messages that a server sends during one call. All messages on the stream of a call belong to it. */
export function createStreamMessageHandler(
  options: StreamMessageOptions,
  deadline: CallDeadlines,
  onDefect: (error: unknown) => void,
): (message: StreamMessage) => void {
  const { logger, server, id, request } = options;
  const { handlers } = request;

  function handle(message: StreamMessage): void {
    if (message.kind === 'request') asked(message.id, message).catch(onDefect);
    else notified(message.method, message.params);
  }

  function notified(method: string, params: Readonly<Record<string, unknown>>): void {
    if (method === 'notifications/message') tell(() => handlers?.log(params));
    else if (method !== 'notifications/progress') options.onNotification(method, params);
    else if (params.progressToken === id) {
      deadline.renew();
      tell(() => handlers?.progress(params));
    }
  }

  /** A defect in the caller's handler loses only that message, not the answer. */
  function tell(say: () => void): void {
    contain(logger, 'caller.defect-contained', { server }, say);
  }

  async function asked(serverRequestId: string | number, serverRequest: ServerRequest): Promise<void> {
    if (handlers === undefined || isPing(serverRequest)) {
      options.ways.send(answerMessage(serverRequestId, isPing(serverRequest) ? pong : notSupported()));
      return;
    }
    deadline.pause();
    let answer: ClientResponse;
    try {
      answer = await handlers.ask(serverRequest);
    } catch (error) {
      logger.error('caller.defect-contained', { server, ...defectFields(error) });
      answer = unanswered('The client could not be asked');
    }
    deadline.resume();
    options.ways.send(answerMessage(serverRequestId, answer));
  }

  return handle;
}
