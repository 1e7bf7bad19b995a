import { HubError, isJsonObject, type Logger } from '../../base/index.ts';
import type { CallerChannel } from '../../calls/index.ts';
import { type Askable, askableOf, type Question, type QuestionAnswer } from '../../mcp/index.ts';
import type { ContentBlock } from './tool-result.ts';

/** How a program answers what servers ask while they work for its agent. What has no handler is not offered to them. */
export interface AnswerHandlers {
  /** A person is asked for something. */
  readonly onElicitation?: (question: Elicitation, asked: AskedBy) => Answered<ElicitationAnswer>;
  /** A model is asked for its next message. */
  readonly onSampling?: (request: SamplingRequest, asked: AskedBy) => Answered<SamplingAnswer>;
  /** The folders that servers may work in. */
  readonly onRoots?: (asked: AskedBy) => Answered<readonly Root[]>;
  /** What servers write into their log while they work for the agent. */
  readonly onLog?: (message: LogMessage) => void;
  /** From which level on; `info` unless given. */
  readonly logLevel?: LogLevel;
}

type Answered<T> = T | Promise<T>;

export interface AskedBy {
  /** Who asks. */
  readonly server: string;
  /** Aborts when the call that it was asked for has ended. */
  readonly signal: AbortSignal;
}

export type Elicitation =
  | {
      readonly mode: 'form';
      readonly message: string;
      /** JSON Schema of a flat object: text, numbers, booleans, choices. */
      readonly requestedSchema: Readonly<Record<string, unknown>>;
    }
  /** The person visits the page; `accept` says only that it agreed to. */
  | { readonly mode: 'url'; readonly message: string; readonly url: string };

export type ElicitationAnswer =
  | { readonly action: 'accept'; readonly content?: Readonly<Record<string, unknown>> }
  | { readonly action: 'decline' | 'cancel' };

/** The members that are named here, and all others that MCP defines. */
export interface SamplingRequest {
  readonly messages: readonly SamplingMessage[];
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  readonly [member: string]: unknown;
}

export interface SamplingMessage {
  readonly role: 'user' | 'assistant';
  readonly content: ContentBlock | readonly ContentBlock[];
}

export interface SamplingAnswer {
  readonly model: string;
  readonly content: ContentBlock | readonly ContentBlock[];
  readonly stopReason?: string;
}

export interface Root {
  /** `file://…` */
  readonly uri: string;
  readonly name?: string;
}

export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

export interface LogMessage {
  readonly server: string;
  readonly level: LogLevel;
  readonly logger: string | undefined;
  readonly data: unknown;
}

/** What handlers can be asked; a form and a page are both for `onElicitation` to answer. */
export function askableBy({ onElicitation, onSampling, onRoots }: AnswerHandlers): Askable {
  return askableOf({
    ...(onElicitation === undefined ? {} : { elicitation: { form: {}, url: {} } }),
    ...(onSampling === undefined ? {} : { sampling: {} }),
    ...(onRoots === undefined ? {} : { roots: {} }),
  });
}

/** Never rejects: a handler that fails is an error to the server, which learns nothing of it. */
export async function answerWith(
  handlers: AnswerHandlers,
  question: Question,
  asked: AskedBy,
  logger: Logger,
): Promise<QuestionAnswer> {
  try {
    return { kind: 'result', text: JSON.stringify(await resultOf(handlers, question, asked)) };
  } catch (error) {
    logger.error('question_handler_failed', { server: asked.server, method: question.method, error: String(error) });
    return { kind: 'error', text: JSON.stringify({ code: -32603, message: 'The client could not answer' }) };
  }
}

/** The way for log messages; undefined where the program does not want them. */
export function logChannel(
  { onLog, logLevel = 'info' }: AnswerHandlers,
  server: () => string,
  logger: Logger,
): CallerChannel['log'] {
  if (onLog === undefined) return undefined;
  return {
    level: logLevel,
    send({ level, logger: name, data }) {
      try {
        // Only known levels reach the one that is wanted.
        onLog({ server: server(), level: level as LogLevel, logger: textOr(name, undefined), data });
      } catch (error) {
        // The program's own defect; it must not cost the connection that brought the message.
        logger.error('log_listener_failed', { error: String(error) });
      }
    },
  };
}

async function resultOf(handlers: AnswerHandlers, { method, params }: Question, asked: AskedBy): Promise<object> {
  switch (method) {
    case 'elicitation/create':
      return checkedElicitation(await handlers.onElicitation?.(toElicitation(params), asked));
    case 'sampling/createMessage':
      // Whoever answers looks at what the server sent; its members are what MCP says, or the server's own mistake.
      return checkedSample(await handlers.onSampling?.(params as SamplingRequest, asked));
    case 'roots/list':
      return { roots: checkedRoots(await handlers.onRoots?.(asked)) };
    default:
      throw new HubError('INTERNAL', `Nobody declared that ${method} can be asked.`);
  }
}

function toElicitation({ mode, message, url, requestedSchema }: Question['params']): Elicitation {
  const words = textOr(message, '');
  if (mode === 'url') return { mode, message: words, url: textOr(url, '') };
  const schema = isJsonObject(requestedSchema) ? requestedSchema : { type: 'object', properties: {} };
  return { mode: 'form', message: words, requestedSchema: schema };
}

function textOr<T>(value: unknown, otherwise: T): string | T {
  return typeof value === 'string' ? value : otherwise;
}

function checkedElicitation(answer: unknown): object {
  const { action } = isJsonObject(answer) ? answer : {};
  if (isJsonObject(answer) && (action === 'accept' || action === 'decline' || action === 'cancel')) return answer;
  throw badAnswer('onElicitation', "{ action: 'accept', content }, { action: 'decline' } or { action: 'cancel' }");
}

function checkedSample(answer: unknown): object {
  if (isJsonObject(answer) && typeof answer.model === 'string' && answer.content !== undefined) {
    return { role: 'assistant', ...answer };
  }
  throw badAnswer('onSampling', '{ model, content }');
}

function checkedRoots(roots: unknown): readonly unknown[] {
  if (Array.isArray(roots) && roots.every((root) => isJsonObject(root) && typeof root.uri === 'string')) return roots;
  throw badAnswer('onRoots', 'a list of { uri }');
}

function badAnswer(handler: string, wanted: string): HubError {
  return new HubError('USAGE', `${handler} did not answer ${wanted}.`);
}
