import { HubError } from '../../base/index.ts';
import { mapErrorStrings, mapResultStrings } from '../../mcp/index.ts';
import type { ErrorReply, ResultReply } from '../../upstream/index.ts';
import type { Target } from '../target.ts';

/**
 * Characters that the rules may search, again after each match. Each takes a fraction of a microsecond, during which no
 * other call makes progress. A longer result is dropped, because part of it would not be redacted.
 */
const mostWork = 5_000_000;

/** The result after the redaction rules of its server. The same object if there is nothing to redact. */
export function redactedReply(target: Target, result: ResultReply): ResultReply | HubError {
  const redact = redactorOf(target);
  return redact === undefined ? result : orTooLong(target, () => mapResultStrings(result, redact));
}

export function redactedError(target: Target, reply: ErrorReply): ErrorReply | HubError {
  const redact = redactorOf(target);
  if (redact === undefined) return reply;
  return orTooLong(target, () => ({
    ...reply,
    message: redact(reply.message),
    text: mapErrorStrings(reply.text, redact),
  }));
}

/** Undefined if the server has no rules. */
function redactorOf({ control }: Target): ((text: string) => string) | undefined {
  const rules = control.spec.results?.redact;
  if (rules === undefined || rules.length === 0) return undefined;
  let left = mostWork;
  const spend = (characters: number): void => {
    left -= characters;
    if (left < 0) throw new TooLong();
  };
  return (text) => rules.reduce((redacted, rule) => rule.apply(redacted, spend), text);
}

class TooLong {}

function orTooLong<T>(target: Target, work: () => T): T | HubError {
  try {
    return work();
  } catch (error) {
    if (error instanceof TooLong) return tooLong(target);
    throw error;
  }
}

function tooLong({ server, subjectName: tool }: Target): HubError {
  const message = `The call ran, but its result was dropped: it is too long for the redaction rules of server "${server}".`;
  return new HubError('RESULT_TOO_LARGE', message, {
    hint: `Ask for less at once: fewer items, a range or a filter. The rules search ${mostWork} characters together.`,
    details: { server, tool, limit: mostWork },
  });
}
