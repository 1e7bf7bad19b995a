import { HubError, isJsonObject } from '../../../base/index.ts';

/** The same failure for the operator: the hub's advice is for a model, which has to go on without the server. */
export function forOperator(error: HubError): HubError {
  const { server, instead } = error.details;
  const why = reasonIn(error.details);
  // A server that is still starting has no reason, and its message says what to do.
  if (server === undefined || instead === undefined || why === undefined) return error;
  return new HubError(error.code, `Server "${server}" is unavailable: ${why}. Nothing was sent.`, {
    cause: error,
    hint: `\`qm doctor ${server}\` shows what to do.`,
    details: error.details,
  });
}

/** Of several transports, the reason of each. */
function reasonIn({ attempts, reason }: HubError['details']): string | undefined {
  if (Array.isArray(attempts)) {
    const tried = attempts.filter(isJsonObject);
    return tried.map((each) => `${String(each.transport)}: ${String(each.reason)}`).join('; ');
  }
  return typeof reason === 'string' ? reason : undefined;
}
