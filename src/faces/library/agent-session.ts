import { createId, type Logger, type RandomBytes } from '../../base/index.ts';
import type { CallClient, CallerChannel } from '../../calls/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { CallProgress } from './agent.ts';
import { type AnswerHandlers, answerWith, askableBy, logChannel } from './questions.ts';

/** What stands behind the operations of one agent handle: to servers it is a client of its own. */
export interface AgentSession {
  readonly caller: Caller;
  readonly client: CallClient;
  /** The way back to the program; undefined where it wants nothing before the answer. */
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
  const askable = askableBy(handlers);
  return {
    caller,
    client: { principal: session, session, askable, takesRounds: false },
    channelFor({ server, signal, onProgress }) {
      if (onProgress === undefined && askable.nothing && handlers.onLog === undefined) return undefined;
      return {
        progress: onProgress && ((params) => reportProgress(params, onProgress, logger)),
        log: logChannel(handlers, server, logger),
        ask: askable.nothing
          ? undefined
          : (question) => answerWith(handlers, question, { server: server(), signal }, logger),
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
    // The program's own defect; it must not cost the connection that brought the message.
    logger.error('progress_listener_failed', { error: String(error) });
  }
}
