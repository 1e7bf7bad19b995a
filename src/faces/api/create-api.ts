import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, type Logger, toHubError } from '../../base/index.ts';
import type { TokenBook } from '../../governance/index.ts';
import type { Hub } from '../../hub/index.ts';
import type { AcceptOrderBody } from './contract.ts';

export interface ApiDeps {
  readonly hub: Hub;
  readonly tokens: TokenBook;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Compares in constant time. */
  isAdmin(token: string): boolean;
  clientSessions(): number;
  /** Writes accepted definitions to the lockfile and applies it. Throws if one is not what its server lists. */
  acceptDefinitions(order: AcceptOrderBody): Promise<void>;
}

export interface ApiAppDeps extends ApiDeps {
  /** The admin token came with the request of this answer, which goes on. */
  authenticated(response: ServerResponse): void;
}

/** Call `authenticated` before an answer that goes on: the request has the admin token. */
export type ApiHandler = (request: IncomingMessage, response: ServerResponse, authenticated: () => void) => void;

/** Answers `/api/…`. Most hubs never get such a request, so the framework is loaded with the first one. */
export function createApi(deps: ApiDeps): ApiHandler {
  const marks = new WeakMap<ServerResponse, () => void>();
  let listener: Promise<(request: IncomingMessage, response: ServerResponse) => Promise<void> | void> | undefined;
  return (request, response, authenticated) => {
    marks.set(response, authenticated);
    listener ??= loadListener({ ...deps, authenticated: (answer) => marks.get(answer)?.() });
    listener
      .then((handle) => handle(request, response))
      .catch((error: unknown) => {
        deps.logger.error('api.request-failed', { error: toHubError(error).message });
        response.destroy();
      });
  };
}

async function loadListener(deps: ApiAppDeps) {
  const [{ getRequestListener }, { createApp }] = await Promise.all([import('@hono/node-server'), import('./app.ts')]);
  return getRequestListener(createApp(deps).fetch, { overrideGlobalObjects: false });
}
