import type { ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { HubError, toHubError } from '../../base/index.ts';
import { addApprovalRoutes } from './approvals/approval-routes.ts';
import { definitionsBody, findingsBody, healthBody, issuedTokenBody, serversBody, tokenSummaryBody } from './bodies.ts';
import {
  acceptOrderSchema,
  commandOrigins,
  originHeader,
  reloadOrderSchema,
  tokenOrderSchema,
  withholdOrderSchema,
} from './contract.ts';
import type { ApiAppDeps } from './create-api.ts';
import { readInput } from './read-input.ts';
import { createEventStreams } from './stream-events.ts';

/** The Node response that the framework answers with, for routes that write it themselves. */
interface ApiEnv {
  Bindings: { readonly outgoing: ServerResponse };
}

export function createApp(deps: ApiAppDeps): Hono<ApiEnv> {
  const { hub, tokens, logger } = deps;
  const app = new Hono<ApiEnv>().basePath('/api');
  const streamEvents = createEventStreams(deps);

  app.use(async (context, next) => {
    expectAdmin(deps, context);
    await next();
  });

  app.get('/health', (context) => context.json(healthBody(hub, deps.clientSessions())));
  app.get('/servers', (context) => context.json(serversBody(hub)));
  app.post('/servers/:name/retry', (context) => {
    hub.retry(context.req.param('name'));
    return context.json(serversBody(hub), 202);
  });
  app.get('/findings', (context) => context.json(findingsBody(hub)));
  app.get('/tokens', (context) => context.json({ tokens: tokens.list().map(tokenSummaryBody) }));
  app.post('/tokens', async (context) => {
    const order = await readInput(context, tokenOrderSchema);
    return context.json(issuedTokenBody(await tokens.issue(order, originOf(context))), 201);
  });
  app.delete('/tokens/:id', async (context) => {
    await tokens.revoke(context.req.param('id'), originOf(context));
    return context.body(null, 204);
  });
  app.post('/reload', async (context) => {
    const { files } = await readInput(context, reloadOrderSchema, '{}');
    await hub.reload(files);
    return context.json(serversBody(hub));
  });
  app.post('/trust/withhold', async (context) => {
    const { servers } = await readInput(context, withholdOrderSchema, '{}');
    await hub.withhold(servers);
    return context.json(serversBody(hub));
  });
  app.get('/definitions', (context) => context.json(definitionsBody(hub)));
  app.post('/definitions/accept', async (context) => {
    await deps.acceptDefinitions(await readInput(context, acceptOrderSchema));
    return context.json(definitionsBody(hub));
  });
  app.get('/events', (context) => {
    if (context.req.method === 'HEAD') return context.notFound();
    deps.authenticated(context.env.outgoing);
    streamEvents(context.env.outgoing);
    return RESPONSE_ALREADY_SENT;
  });

  addApprovalRoutes(app, hub);
  app.notFound((context) => {
    const { method, path } = context.req;
    return answerError(context, new HubError('METHOD_NOT_FOUND', `The API has no ${method} ${path.slice(0, 200)}.`));
  });
  app.onError((error, context) => {
    const known = toHubError(error);
    if (known.code === 'INTERNAL') logger.error('api.request-failed', { error: known.message, stack: known.stack });
    return answerError(context, known);
  });
  return app;
}

/** How the order came, as the client says: it has the admin token, so it need not lie. */
function originOf(context: Context): string {
  return commandOrigins.find((origin) => origin === context.req.header(originHeader)) ?? 'api';
}

function expectAdmin({ isAdmin }: ApiAppDeps, context: Context): void {
  const token = /^bearer +(\S{1,300})$/i.exec(context.req.header('authorization') ?? '')?.[1];
  if (token === undefined || !isAdmin(token)) throw unauthenticated();
}

function unauthenticated(): HubError {
  return new HubError('UNAUTHENTICATED', 'The API needs the admin token.', {
    hint: 'Send "Authorization: Bearer <token>" with the token from the file admin-token; `qm state path` prints its folder.',
  });
}

function answerError(context: Context, error: HubError): Response {
  const { code, message, hint } = error;
  if (error.row.http === 401) context.header('www-authenticate', 'Bearer realm="quartermaster"');
  // Every status of the table may have a body.
  const status = error.row.http as ContentfulStatusCode;
  return context.json({ error: { code, message, ...(hint === undefined ? {} : { hint }) } }, status);
}
