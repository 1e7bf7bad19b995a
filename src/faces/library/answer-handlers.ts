import { HubError, isJsonObject, type Logger } from '../../base/index.ts';
import type { CallerChannel } from '../../calls/index.ts';
import {
  type ClientCapabilities,
  type ClientResponse,
  clientCapabilitiesOf,
  type ServerRequest,
} from '../../mcp/index.ts';
import { type ContentBlock, type ReceivedContent, receivedContent, receivedContents } from './content.ts';

/** Handlers for server requests made on behalf of an agent. Without a handler, the capability is not declared. */
export interface AnswerHandlers {
  /** Asks a person for input. */
  readonly onElicitation?: (serverRequest: Elicitation, asked: RequestOrigin) => Answered<ElicitationAnswer>;
  /** Asks a model for its next message. */
  readonly onSampling?: (request: SamplingRequest, asked: RequestOrigin) => Answered<SamplingAnswer>;
  /** Lists the folders that servers may work in. */
  readonly onRoots?: (asked: RequestOrigin) => Answered<readonly Root[]>;
  /** Receives log messages that servers send while they work for the agent. */
  readonly onLog?: (message: LogMessage) => void;
  /** The lowest level to receive. Default: `info`. */
  readonly logLevel?: LogLevel;
}

type Answered<T> = T | Promise<T>;

export interface RequestOrigin {
  /** The server that sent the request. */
  readonly server: string;
  /** Aborts when the call that caused the request has ended. */
  readonly signal: AbortSignal;
}

export type Elicitation =
  | {
      readonly mode: 'form';
      readonly message: string;
      /** JSON Schema of a flat object: text, numbers, booleans, choices. */
      readonly requestedSchema: Readonly<Record<string, unknown>>;
    }
  /** The person visits the page. `accept` only means that the person agreed to. */
  | { readonly mode: 'url'; readonly message: string; readonly url: string };

export type ElicitationAnswer =
  | { readonly action: 'accept'; readonly content?: Readonly<Record<string, unknown>> }
  | { readonly action: 'decline' | 'cancel' };

/** These members, and all others that MCP defines. */
export interface SamplingRequest {
  readonly messages: readonly SamplingMessage[];
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  readonly [member: string]: unknown;
}

export interface SamplingMessage {
  readonly role: 'user' | 'assistant';
  readonly content: ReceivedContent | readonly ReceivedContent[];
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

/** The capabilities that the handlers cover. `onElicitation` handles both forms and URLs. */
export function clientCapabilitiesBy({ onElicitation, onSampling, onRoots }: AnswerHandlers): ClientCapabilities {
  return clientCapabilitiesOf({
    ...(onElicitation === undefined ? {} : { elicitation: { form: {}, url: {} } }),
    ...(onSampling === undefined ? {} : { sampling: {} }),
    ...(onRoots === undefined ? {} : { roots: {} }),
  });
}

/** Never rejects. If a handler fails, the server gets an error without details. */
export async function answerWith(
  handlers: AnswerHandlers,
  serverRequest: ServerRequest,
  asked: RequestOrigin,
  logger: Logger,
): Promise<ClientResponse> {
  try {
    return { kind: 'result', text: JSON.stringify(await resultOf(handlers, serverRequest, asked)) };
  } catch (error) {
    logger.error('library.request-handler-failed', {
      server: asked.server,
      method: serverRequest.method,
      error: String(error),
    });
    return { kind: 'error', text: JSON.stringify({ code: -32603, message: 'The client could not answer' }) };
  }
}

/** The channel for log messages; undefined if the program has no `onLog`. */
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
        // The level filter passes known levels only.
        onLog({ server: server(), level: level as LogLevel, logger: textOr(name, undefined), data });
      } catch (error) {
        // A bug in the program's listener must not break the connection that delivered the message.
        logger.error('library.log-listener-failed', { error: String(error) });
      }
    },
  };
}

async function resultOf(
  handlers: AnswerHandlers,
  { method, params }: ServerRequest,
  asked: RequestOrigin,
): Promise<object> {
  switch (method) {
    case 'elicitation/create':
      return checkedElicitation(await handlers.onElicitation?.(toElicitation(params), asked));
    case 'sampling/createMessage':
      return checkedSample(await handlers.onSampling?.(toSampling(params), asked));
    case 'roots/list':
      return { roots: checkedRoots(await handlers.onRoots?.(asked)) };
    default:
      throw new HubError('INTERNAL', `Nobody declared that ${method} can be asked.`);
  }
}

function toElicitation({ mode, message, url, requestedSchema }: ServerRequest['params']): Elicitation {
  const words = textOr(message, '');
  if (mode === 'url') return { mode, message: words, url: textOr(url, '') };
  const schema = isJsonObject(requestedSchema) ? requestedSchema : { type: 'object', properties: {} };
  return { mode: 'form', message: words, requestedSchema: schema };
}

function toSampling(params: ServerRequest['params']): SamplingRequest {
  const { messages } = params;
  const checked: Readonly<Record<string, unknown>> = {
    ...params,
    messages: Array.isArray(messages) ? messages.map(toSamplingMessage) : messages,
  };
  // In all members but the content, the handler gets what MCP defines, or the server's own mistake.
  return checked as SamplingRequest;
}

function toSamplingMessage(message: unknown): unknown {
  if (!isJsonObject(message)) return message;
  const { content } = message;
  return { ...message, content: Array.isArray(content) ? receivedContents(content) : receivedContent(content) };
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
