import { type Clock, HubError, type Logger, toHubError } from '../../base/index.ts';
import type { Caller } from '../../domain/index.ts';
import type { Hub } from '../../hub/index.ts';
import { errorReply, legacyVersions } from '../../mcp/index.ts';
import { addLists, isOperation, listKinds, type Request } from '../mcp/index.ts';
import type { Exchange } from './exchange.ts';
import type { ClientSessions } from './sessions/client-sessions.ts';
import type { HttpSession } from './sessions/http-session.ts';

export interface LegacyDeps {
  readonly hub: Hub;
  readonly clock: Clock;
  readonly sessions: ClientSessions<HttpSession>;
  readonly logger: Logger;
  /** Throws HubError if the token of the request has expired or was revoked since. */
  readonly recheckToken: (exchange: Exchange) => void;
}

/** The client session that a request names; throws HubError if its token has no such session. */
export function sessionOf({ sessions }: LegacyDeps, { owner, headers }: Exchange): HttpSession {
  const version = headers['mcp-protocol-version'];
  // Some clients never send the header; the version of the session holds then.
  if (version !== undefined && !legacyVersions.includes(version.trim())) {
    throw new HubError('INVALID_REQUEST', `Protocol version ${version.slice(0, 40)} is not supported.`, {
      details: { supported: legacyVersions },
    });
  }
  const id = headers['mcp-session-id'];
  if (id === undefined) {
    throw new HubError('INVALID_REQUEST', 'The Mcp-Session-Id header is missing.', {
      hint: 'Send initialize first.',
    });
  }
  const session = sessions.find(id, owner);
  if (session !== undefined) return session;
  throw new HubError('SESSION_UNKNOWN', 'Session not found.', { hint: 'Send initialize again.' });
}

/** The answer to a request that the hub answers itself; never rejects. */
export async function answerTo(
  { hub }: LegacyDeps,
  session: HttpSession,
  caller: Caller,
  request: Request,
): Promise<string> {
  try {
    const answer = await session.client.answer(caller, request);
    const list = listKinds.get(request.method);
    if (list !== undefined) {
      const now = hub.lists.digests(caller, [list]);
      session.listed = addLists({ ...session.listed, ...now }, hub.lists, caller);
      if (session.stream !== undefined) addLists(session.stream.lists, hub.lists, caller, [list]);
    }
    return answer;
  } catch (error) {
    return errorReply(request.idText, toHubError(error));
  }
}

/** Subscribing acts on a server too, but lasts as long as the client. */
export function isCall({ method }: Request): boolean {
  return method === 'tools/call' || (method !== 'resources/subscribe' && isOperation(method));
}
