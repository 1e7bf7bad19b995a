import { html, raw } from 'hono/html';
import type { PageSession } from '../../approvals/index.ts';
import { type HubError, printable, printableLine } from '../../base/index.ts';
import { type ApprovalDetailBody, changedMembers, memberTexts } from '../api/index.ts';
import { style } from './page-style.ts';

export type HtmlText = ReturnType<typeof html>;

/** `html` escapes what it is given; invisible characters and those that change the direction are made visible here. */
const line = printableLine;

/** Opens the page by a form: programs that preview or scan links would use the link up. */
export function keyDocument(id: string, key: string): HtmlText {
  return document(
    'A call waits for approval',
    html`<h1>A call waits for approval</h1>
<p>This link opens the question once, in this browser.</p>
<form method="post" action="/approvals/${id}/open">
<input type="hidden" name="key" value="${key}">
<button class="go">Show the call</button>
</form>`,
  );
}

/** What happened instead, and what to do. */
export function closedDocument({ message, hint }: HubError): HtmlText {
  return document(
    'Approval',
    html`<h1>${line(message)}</h1>
${hint === undefined ? '' : html`<p>${line(hint)}</p>`}`,
  );
}

/** Everything that a person needs to decide, as `qm approvals show` has it. */
export function approvalDocument(detail: ApprovalDetailBody, session: PageSession, now: number): HtmlText {
  const { agent, server, tool, risk, message, argumentsText, lastApproved, before, state } = detail;
  const title = `${agent} wants to call ${server}.${tool}`;
  return document(
    title,
    html`<span class="risk ${risk}">${risk}</span>
<h1>${line(title)}</h1>
${message === undefined ? '' : html`<p class="card">${line(message)}</p>`}
${state === 'open' ? '' : html`<p class="card"><strong>${line(stateText(detail))}</strong></p>`}
<h2>Arguments</h2>
<div class="card"><pre>${memberTexts(argumentsText).map((member) => html`<span>${printable(member)}</span>`)}</pre></div>
${lastApproved === undefined ? '' : changes(lastApproved.argumentsText, argumentsText)}
<h2>Facts</h2>
<div class="card"><dl>${facts(detail, now).map(([name, text]) => html`<dt>${name}</dt><dd>${line(text)}</dd>`)}</dl></div>
<h2>What the run did before</h2>
<div class="card">${before.length === 0 ? html`<p class="soft">Nothing yet.</p>` : html`<ol>${before.map(callItem)}</ol>`}</div>
${state === 'open' ? forms(detail.id, session) : ''}`,
  );
}

function facts(detail: ApprovalDetailBody, now: number): readonly (readonly [string, string])[] {
  const { id, chain, agent, run, rule, expires, state, seen } = detail;
  const minutes = Math.max(0, Math.round((Date.parse(expires) - now) / 60_000));
  return [
    ['Approval', id],
    ['Agent', (chain ?? [agent]).join(' for ')],
    ['Run', run],
    ['Rule', rule ?? 'none'],
    ...(state === 'open' ? [['Time left', `${minutes} min, until ${utc(expires)}`] as const] : []),
    ...seen.map(({ by, at }) => ['Seen by', `${by}, ${utc(at)}`] as const),
  ];
}

function changes(before: string, now: string): HtmlText {
  const { gone, added } = changedMembers(before, now);
  if (gone.length + added.length === 0) {
    return html`<p class="soft">The same arguments as the last approved call of this tool.</p>`;
  }
  return html`<h2>Compared with the last approved call</h2>
<div class="card"><pre>${gone.map((member) => html`<span class="gone">− ${printable(member)}</span>`)}${added.map(
    (member) => html`<span class="added">+ ${printable(member)}</span>`,
  )}</pre></div>`;
}

function callItem({ ts, server, tool, outcome }: ApprovalDetailBody['before'][number]): HtmlText {
  return html`<li>${ts.slice(11, 19)} ${line(`${server ?? ''}.${tool}`)} ${outcome}</li>`;
}

function forms(id: string, { formToken, approver }: PageSession): HtmlText {
  const token = html`<input type="hidden" name="token" value="${formToken}">`;
  return html`<h2>Decide as ${line(approver.name)}</h2>
<form method="post" action="/approvals/${id}/approve">${token}<button class="go">Approve this call once</button></form>
<form method="post" action="/approvals/${id}/deny">${token}
<label for="reason">Reason, which the agent reads (optional)</label>
<textarea id="reason" name="reason" maxlength="1000"></textarea>
<button class="stop">Deny</button></form>
<form method="post" action="/approvals/${id}/not-now">${token}<button>Not now</button></form>`;
}

function stateText({ state, by, reason }: ApprovalDetailBody): string {
  const who = by === undefined ? '' : ` by ${by}`;
  const why = reason === undefined ? '' : `: ${reason}`;
  return `${stateWords[state]}${who}${why}.`;
}

const stateWords: Readonly<Record<ApprovalDetailBody['state'], string>> = {
  open: 'Open',
  approved: 'Approved',
  denied: 'Denied',
  expired: 'Expired',
  void: 'No longer valid',
  claimed: 'Being sent, approved',
  spent: 'Sent once, approved',
  unknown: 'May have run, approved',
  closed: 'Closed, approved',
};

function utc(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`;
}

function document(title: string, body: HtmlText): HtmlText {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${line(title)}</title><style>${raw(style)}</style></head>
<body><main><p class="soft">Quartermaster</p>${body}</main></body></html>`;
}
