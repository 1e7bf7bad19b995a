import { createId, type Logger, type RandomBytes } from '../../base/index.ts';
import type { CallClient, CallerChannel } from '../../calls/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { CallProgress } from './agent.ts';
import { type AnswerHandlers, answerWith, clientCapabilitiesBy, logChannel } from './answer-handlers.ts';

/** The state behind one agent handle. To servers, each handle is a separate client. */
export interface AgentSession {
  readonly caller: Caller;
  readonly client: CallClient;
  /** The channel back to the program; undefined if the program handles nothing before the result. */
  channelFor(operation: ChannelOrder): CallerChannel | undefined;
}

export interface ChannelOrder {
  readonly server: () => string;
  /** Aborts when the operation has ended. */
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: CallProgress) => void) | undefined;
}

export function createAgentSession(
  { logger, random }: { readonly logger: Logger; readonly random: RandomBytes },
  caller: Caller,
  handlers: AnswerHandlers,
): AgentSession {
  const session = createId(random, 26);
  const clientCapabilities = clientCapabilitiesBy(handlers);
  return {
    caller,
    client: { principal: session, session, clientCapabilities, takesInputRequired: false },
    channelFor({ server, signal, onProgress }) {
      if (onProgress === undefined && clientCapabilities.nothing && handlers.onLog === undefined) return undefined;
      return {
        progress: onProgress && ((params) => reportProgress(params, onProgress, logger)),
        log: logChannel(handlers, server, logger),
        ask: clientCapabilities.nothing
          ? undefined
          : (serverRequest) => answerWith(handlers, serverRequest, { server: server(), signal }, logger),
      };
    },
  };
}

function reportProgress(
  params: Readonly<Record<string, unknown>>,
  onProgress: (progress: CallProgress) => void,
  logger: Logger,
): void {
  const { progress, total, message } = params;
  if (typeof progress !== 'number') return;
  try {
    onProgress({
      progress,
      ...(typeof total === 'number' ? { total } : {}),
      ...(typeof message === 'string' ? { message } : {}),
    });
  } catch (error) {
    // A bug in the program's listener must not break the connection that delivered the progress.
    logger.error('library.progress-listener-failed', { error: String(error) });
  }
}
