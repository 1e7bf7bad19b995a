import { contain, defectFields } from '../../base/index.ts';
import { notOffered, type Question, type QuestionAnswer, type UpstreamMessage, unanswered } from '../../mcp/index.ts';
import type { Patience } from '../deadlines.ts';
import { answerMessage, isPing, pong } from './answer-to-server.ts';
import type { ExchangeOptions } from './http-exchange.ts';

/** What a server says besides its answer. */
export type Aside = UpstreamMessage & { readonly kind: 'request' | 'notification' };

type AsideOptions = Pick<ExchangeOptions, 'logger' | 'server' | 'id' | 'request' | 'onNotification' | 'ways'>;

/** Brings what a server says during one call to whom it concerns. What comes on the stream of a call belongs to it. */
export function createAsideHandler(
  options: AsideOptions,
  patience: Patience,
  onDefect: (error: unknown) => void,
): (message: Aside) => void {
  const { logger, server, id, request } = options;
  const { hearing } = request;

  function hear(message: Aside): void {
    if (message.kind === 'request') asked(message.id, message).catch(onDefect);
    else notified(message.method, message.params);
  }

  function notified(method: string, params: Readonly<Record<string, unknown>>): void {
    if (method === 'notifications/message') tell(() => hearing?.log(params));
    else if (method !== 'notifications/progress') options.onNotification(method, params);
    else if (params.progressToken === id) {
      patience.renew();
      tell(() => hearing?.progress(params));
    }
  }

  /** A defect on the side of the caller costs it what it was told, and nobody the answer. */
  function tell(say: () => void): void {
    contain(logger, 'caller_defect', { server }, say);
  }

  async function asked(questionId: string | number, question: Question): Promise<void> {
    if (hearing === undefined || isPing(question)) {
      options.ways.send(answerMessage(questionId, isPing(question) ? pong : notOffered()));
      return;
    }
    patience.hold();
    let answer: QuestionAnswer;
    try {
      answer = await hearing.ask(question);
    } catch (error) {
      logger.error('caller_defect', { server, ...defectFields(error) });
      answer = unanswered('The client could not be asked');
    }
    patience.resume();
    options.ways.send(answerMessage(questionId, answer));
  }

  return hear;
}
