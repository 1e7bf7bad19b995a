import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, type Logger, toHubError } from '../../base/index.ts';
import type { Hub } from '../../hub/index.ts';

export interface ApprovalPageDeps {
  readonly hub: Hub;
  readonly clock: Clock;
  readonly logger: Logger;
}

export type PageHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers `/approvals/…`. Most hubs never get such a request, so the framework is loaded with the first one. */
export function createApprovalPage(deps: ApprovalPageDeps): PageHandler {
  let listener: Promise<(request: IncomingMessage, response: ServerResponse) => Promise<void> | void> | undefined;
  return (request, response) => {
    listener ??= loadListener(deps);
    listener
      .then((handle) => handle(request, response))
      .catch((error: unknown) => {
        deps.logger.error('page.request-failed', { error: toHubError(error).message });
        response.destroy();
      });
  };
}

async function loadListener(deps: ApprovalPageDeps) {
  const [{ getRequestListener }, { createPageApp }] = await Promise.all([
    import('@hono/node-server'),
    import('./page-app.ts'),
  ]);
  return getRequestListener(createPageApp(deps).fetch, { overrideGlobalObjects: false });
}
