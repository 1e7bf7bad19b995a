import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { PageSession } from '../../approvals/index.ts';
import { HubError, toHubError } from '../../base/index.ts';
import type { Hub } from '../../hub/index.ts';
import { approvalDetail } from '../api/index.ts';
import type { ApprovalPageDeps } from './create-approval-page.ts';
import { approvalDocument, closedDocument, type HtmlText, keyDocument } from './page-documents.ts';
import { pageHeaders } from './page-headers.ts';

/** The page of one approval, for whoever opens its one-time link. It needs no script. */
export function createPageApp({ hub, clock, logger }: ApprovalPageDeps): Hono {
  const app = new Hono().basePath('/approvals');
  const { links } = hub.approvals;

  app.use(async (context, next) => {
    await next();
    for (const [name, value] of pageHeaders) context.header(name, value);
  });
  app.use(bodyLimit({ maxSize: maxFormBytes, onError: () => Promise.reject(tooLarge()) }));

  app.get('/:id', async (context) => {
    const id = context.req.param('id');
    const key = context.req.query('key');
    if (key !== undefined && links.isGood(id, key)) return answer(context, keyDocument(id, key));
    return answer(context, await question(hub, sessionOf(context, id), clock.now()));
  });
  app.post('/:id/open', async (context) => {
    const id = context.req.param('id');
    const secret = links.open(id, field(await context.req.parseBody(), 'key'));
    if (secret === undefined) throw noLink();
    const isSecure = new URL(hub.approvals.linkTo(id) ?? context.req.url).protocol === 'https:';
    setCookie(context, cookie, secret, {
      path: `/approvals/${id}`,
      httpOnly: true,
      sameSite: 'Strict',
      secure: isSecure,
    });
    return context.redirect(`/approvals/${id}`, 303);
  });
  app.post('/:id/:act{approve|deny|not-now}', async (context) => {
    const { id, act } = context.req.param();
    const session = sessionOf(context, id);
    const form = await context.req.parseBody();
    if (field(form, 'token') !== session.formToken) throw noLink();
    await decide(hub, session, act, field(form, 'reason').trim());
    return context.redirect(`/approvals/${id}`, 303);
  });

  function sessionOf(context: Context, id: string): PageSession {
    const secret = getCookie(context, cookie);
    const session = secret === undefined ? undefined : links.session(id, secret);
    if (session !== undefined) return session;
    if (secret !== undefined) deleteCookie(context, cookie, { path: `/approvals/${id}` });
    throw noLink();
  }

  app.notFound((context) => answer(context, closedDocument(noLink()), 404));
  app.onError((error, context) => {
    const known = toHubError(error);
    if (known.code === 'INTERNAL') {
      logger.error('page.request-failed', { error: known.message, stack: known.stack });
    }
    // Every status of the table may have a body.
    return answer(context, closedDocument(known), known.row.http as ContentfulStatusCode);
  });
  return app;
}

async function question(hub: Hub, session: PageSession, now: number): Promise<HtmlText> {
  const approvals = await hub.approvals.opened();
  const detail = await approvalDetail(hub, approvals, approvals.get(session.approval));
  return approvalDocument(detail, session, now);
}

async function decide(hub: Hub, { approval, approver }: PageSession, act: string, reason: string): Promise<void> {
  const approvals = await hub.approvals.opened();
  if (act === 'approve') await approvals.approve(approval, approver);
  else if (act === 'not-now') await approvals.notNow(approval, approver);
  else await approvals.deny(approval, approver, reason === '' ? {} : { reason: reason.slice(0, maxReason) });
}

const cookie = 'qm-approval';
const maxFormBytes = 16 * 1024;
/** As in the API. */
const maxReason = 1000;

function answer(context: Context, html: HtmlText, status: ContentfulStatusCode = 200): Response | Promise<Response> {
  return context.html(html, status);
}

/** A field that is missing, repeated or a file is empty. */
function field(form: Readonly<Record<string, unknown>>, name: string): string {
  const value = form[name];
  return typeof value === 'string' ? value : '';
}

/** The same for an unknown approval: who has no link learns nothing. */
function noLink(): HubError {
  return new HubError('APPROVAL_NOT_YOURS', 'This page opens with a one-time link, and each link opens it once.', {
    hint: 'Ask the operator of the hub for a new link: `qm approvals link ID`. Nothing was changed.',
  });
}

function tooLarge(): HubError {
  return new HubError('REQUEST_TOO_LARGE', `The form is over ${maxFormBytes} bytes.`);
}
