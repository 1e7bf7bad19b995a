import { expect, test } from 'vitest';
import { gatewayForTest, type RunningGateway } from '../../support/gateway.ts';
import { modernClient, textOf } from '../../support/mcp-clients.ts';
import { ask } from '../../support/mcp-http.ts';
import { verifies } from '../../support/verifies.ts';
import { question, untilState } from '../hub/approvals.fixture.ts';

const asking = { policies: { tools: { 'echo.*': 'require-approval' } } };
const adminToken = 'admin';

interface HeldCall {
  readonly running: RunningGateway;
  readonly id: string;
  /** The page, without a key. */
  readonly page: string;
  readonly result: Promise<string | undefined>;
}

async function heldCall(config: object = {}, args: object = { message: 'hi <b>' }): Promise<HeldCall> {
  const running = await gatewayForTest({ ...asking, ...config }, { adminToken });
  const client = modernClient(running.url, await running.token());
  const result = client.call('echo', args).then(({ message }) => textOf(message));
  const { id } = await question(running.hub);
  return { running, id, page: `${running.origin}/approvals/${id}`, result };
}

function linkOf({ running, id }: HeldCall, approver = 'bob'): Promise<Response> {
  const headers = { authorization: `Bearer ${adminToken}` };
  const body = JSON.stringify({ approver });
  return fetch(`${running.origin}/api/approvals/${id}/link`, { method: 'POST', headers, body });
}

async function keyFor(held: HeldCall, approver?: string): Promise<string> {
  const { url } = (await (await linkOf(held, approver)).json()) as { readonly url: string };
  expect(url.startsWith(`${held.page}?key=`)).toBe(true);
  return new URL(url).searchParams.get('key') ?? '';
}

function post(url: string, form: Readonly<Record<string, string>>, headers: Record<string, string> = {}) {
  return fetch(url, { method: 'POST', body: new URLSearchParams(form), headers, redirect: 'manual' });
}

interface OpenedPage {
  readonly cookie: string;
  readonly token: string;
  readonly html: string;
}

async function openPage(held: HeldCall, approver?: string): Promise<OpenedPage> {
  const opened = await post(`${held.page}/open`, { key: await keyFor(held, approver) });
  expect([opened.status, opened.headers.get('location')]).toEqual([303, `/approvals/${held.id}`]);
  const [cookie = ''] = (opened.headers.get('set-cookie') ?? '').split(';', 1);
  const html = await (await fetch(held.page, { headers: { cookie } })).text();
  return { cookie, token: /name="token" value="(\w+)"/.exec(html)?.[1] ?? '', html };
}

test(verifies('approvals:page', 'a call is approved on its page, and the record says by whom and how'), async () => {
  const held = await heldCall();
  const { cookie, token, html } = await openPage(held);
  expect(html).toContain('tester wants to call echo.echo');
  expect(html).toContain('hi &lt;b&gt;');
  expect(html).toContain('echo.* (quartermaster.yaml:');
  expect((await post(`${held.page}/approve`, { token }, { cookie })).status).toBe(303);
  expect(await held.result).toContain('hi <b>');
  const { state } = await untilState(held.running.hub, held.id, 'spent');
  expect(state).toMatchObject({ by: { name: 'bob', via: 'page' } });
  const after = await (await fetch(held.page, { headers: { cookie } })).text();
  expect(after).toContain('Sent once, approved by bob');
  expect(after).not.toContain('<form');
});

test(verifies('approvals:page', 'a denial has its reason, and "not now" leaves the question open'), async () => {
  const held = await heldCall();
  const { cookie, token } = await openPage(held, 'ann');
  await post(`${held.page}/not-now`, { token }, { cookie });
  expect((await question(held.running.hub)).seen).toMatchObject([{ by: { name: 'ann', via: 'page' } }]);
  await post(`${held.page}/deny`, { token, reason: 'not on a Friday' }, { cookie });
  expect((await untilState(held.running.hub, held.id, 'denied')).state).toMatchObject({ reason: 'not on a Friday' });
  await held.result;
  const again = await post(`${held.page}/approve`, { token }, { cookie });
  expect([again.status, await again.text()]).toEqual([409, expect.stringContaining('denied by ann')]);
});

test(
  verifies('approvals:page', 'a link opens once, previews do not use it up, and it is good for its approval only'),
  async () => {
    const held = await heldCall();
    const key = await keyFor(held);
    for (let preview = 0; preview < 3; preview++) {
      const seen = await fetch(`${held.page}?key=${key}`);
      expect([seen.status, await seen.text()]).toEqual([200, expect.not.stringContaining('echo')]);
    }
    expect((await post(`${held.running.origin}/approvals/another/open`, { key })).status).toBe(403);
    expect((await post(`${held.page}/open`, { key })).status).toBe(303);
    expect((await post(`${held.page}/open`, { key })).status).toBe(403);
    expect((await fetch(`${held.page}?key=${key}`)).status).toBe(403);
  },
);

test(
  verifies('approvals:page', 'without the cookie, the form token or a page of the hub, nothing is shown or decided'),
  async () => {
    const held = await heldCall();
    const { cookie, token } = await openPage(held);
    const refusals = [
      await fetch(held.page),
      await fetch(`${held.running.origin}/approvals/nothing`),
      await post(`${held.page}/approve`, { token }),
      await post(`${held.page}/approve`, { token: 'x'.repeat(40) }, { cookie }),
      await post(`${held.page}/approve`, {}, { cookie }),
      await post(`${held.page}/approve`, { token }, { cookie: 'qm-approval=guess' }),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403]);
    const texts = await Promise.all(refusals.map((refusal) => refusal.text()));
    expect(texts.filter((text) => text.includes('echo'))).toEqual([]);
    const foreign = await post(`${held.page}/approve`, { token }, { cookie, origin: 'https://evil.example' });
    expect(foreign.status).toBe(403);
    expect((await question(held.running.hub)).state.kind).toBe('open');
  },
);

test(
  verifies('approvals:page', 'it forbids scripts, frames and caches, and its cookie stays with this page'),
  async () => {
    const held = await heldCall({ serve: { publicUrl: 'https://hub.example' } });
    const { url } = (await (await linkOf(held)).json()) as { readonly url: string };
    expect(url.startsWith(`https://hub.example/approvals/${held.id}?key=`)).toBe(true);
    const key = new URL(url).searchParams.get('key') ?? '';
    // As a proxy in front of the hub passes it on.
    const headers = { host: 'hub.example', origin: 'https://hub.example' };
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const opened = await ask(`${held.page}/open`, {
      method: 'POST',
      headers: { ...headers, ...type },
      body: `key=${key}`,
    });
    expect(opened.status).toBe(303);
    expect(opened.headers['set-cookie']?.[0]).toMatch(
      new RegExp(`^qm-approval=\\w{40}; Path=/approvals/${held.id}; HttpOnly; Secure; SameSite=Strict$`),
    );
    const shown = await fetch(held.page, {
      headers: { cookie: opened.headers['set-cookie']?.[0]?.split(';', 1)[0] ?? '' },
    });
    expect(shown.status).toBe(200);
    const policy = shown.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('script-src');
    expect(shown.headers.get('cache-control')).toBe('no-store');
    expect(await shown.text()).not.toContain('<script');
  },
);

test(
  verifies('approvals:deciders', 'with approvals.require: page, the admin token gets no link and decides nothing'),
  async () => {
    const held = await heldCall({ approvals: { require: 'page' } });
    const refused = await linkOf(held);
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('qm serve')]);
    const { url } = await held.running.hub.approvals.oneTimeLink(held.id, 'bob');
    const opened = await post(`${held.page}/open`, { key: new URL(url).searchParams.get('key') ?? '' });
    const [cookie = ''] = (opened.headers.get('set-cookie') ?? '').split(';', 1);
    const html = await (await fetch(held.page, { headers: { cookie } })).text();
    const token = /name="token" value="(\w+)"/.exec(html)?.[1] ?? '';
    expect((await post(`${held.page}/approve`, { token }, { cookie })).status).toBe(303);
    expect(await held.result).toContain('hi');
  },
);

test(verifies('approvals:deciders', 'four eyes hold on the page too'), async () => {
  const held = await heldCall({ approvals: { four_eyes: true } });
  const { cookie, token } = await openPage(held, 'operator');
  const refused = await post(`${held.page}/approve`, { token }, { cookie });
  expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('another person')]);
  expect((await question(held.running.hub)).state.kind).toBe('open');
});

test(verifies('approvals:page', 'invisible characters and those that change the direction are visible'), async () => {
  const held = await heldCall({}, { message: 'safe\u202egpj.exe\u200b' });
  const { html } = await openPage(held);
  expect(html).toContain('safe\\u202egpj.exe\\u200b');
  expect(html).not.toMatch(/[\u202e\u200b]/);
});
