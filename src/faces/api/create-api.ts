import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Logger, toHubError } from '../../base/index.ts';
import type { TokenBook } from '../../governance/index.ts';
import type { Hub } from '../../hub/index.ts';

export interface ApiDeps {
  readonly hub: Hub;
  readonly tokens: TokenBook;
  readonly logger: Logger;
  /** Compares in constant time. */
  isAdmin(token: string): boolean;
  clientSessions(): number;
}

export type ApiHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers `/api/…`. Most hubs never hear such a request, so the framework is loaded with the first one. */
export function createApi(deps: ApiDeps): ApiHandler {
  let listener: Promise<(request: IncomingMessage, response: ServerResponse) => Promise<void> | void> | undefined;
  return (request, response) => {
    listener ??= loadListener(deps);
    listener
      .then((handle) => handle(request, response))
      .catch((error: unknown) => {
        deps.logger.error('api_request_failed', { error: toHubError(error).message });
        response.destroy();
      });
  };
}

async function loadListener(deps: ApiDeps) {
  const [{ getRequestListener }, { createApp }] = await Promise.all([import('@hono/node-server'), import('./app.ts')]);
  return getRequestListener(createApp(deps).fetch, { overrideGlobalObjects: false });
}
