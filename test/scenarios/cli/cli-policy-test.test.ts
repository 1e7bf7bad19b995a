import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { policyTestSchema } from '../../../src/faces/cli/json-shapes.ts';
import { openStage, type Stage, stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { runHere } from '../run-here.fixture.ts';

const servers = {
  web: stdioServer('named-tools.mjs', ['fetch', 'post'], { labels: { fetch: ['untrusted-content'] } }),
};

/** A workspace with calls of two agents in its audit log. */
async function recorded(): Promise<Stage> {
  const stage = await openStage();
  await stage.start({ servers });
  await stage.hub.discover();
  await stage.call('web_post', { to: 'all' }, { agent: 'dev' });
  await stage.call('web_post', { to: 'me' }, { agent: 'dev' });
  await stage.call('web_fetch', {}, { agent: 'lead' });
  await stage.call('web_post', { to: 'me' }, { agent: 'lead' });
  await stage.call('web_nothing', {}, { agent: 'lead' });
  await stage.stop();
  return stage;
}

async function policyTest({ workspace }: Stage, ...args: readonly string[]) {
  const { code, stdout, stderr } = await runHere(['policy', 'test', '--json', ...args], { cwd: workspace });
  return { code, stderr, report: stdout === '' ? undefined : policyTestSchema.parse(JSON.parse(stdout)) };
}

test(verifies('policies:test-changes', 'the same rules change nothing, others show what they change'), async () => {
  const stage = await recorded();
  expect(await policyTest(stage)).toMatchObject({
    code: 0,
    report: { calls: 5, same: 4, changed: 0, unknown: 0, undecided: 1, changes: [] },
  });
  await stage.configure({ servers, policies: { tools: { 'web.post': { effect: 'deny', when: { to: 'all' } } } } });
  const { code, report } = await policyTest(stage, '--since', '1h');
  expect(code).toBe(1);
  expect(report).toMatchObject({ same: 3, changed: 1 });
  expect(report?.changes).toEqual([
    {
      agent: 'dev',
      server: 'web',
      tool: 'post',
      before: 'allow',
      after: 'deny',
      calls: 1,
      rule: 'web.post',
      rule_source: expect.stringMatching(/^quartermaster\.yaml:\d+$/),
      call_id: expect.any(String),
    },
  ]);
  const { stdout } = await runHere(['policy', 'test'], { cwd: stage.workspace });
  expect(stdout).toMatch(/dev +web\.post +1 +allow +deny +web\.post \(quartermaster\.yaml:\d+\)/);
  expect(stdout).toContain('5 calls: 3 decided alike, 1 differently, 0 unknown, 1 not decided by rules.');
});

test('calls and rules may come from files, and labels count as they were', async () => {
  const stage = await recorded();
  const { stdout } = await runHere(['calls', '--json'], { cwd: stage.workspace });
  await writeFile(join(stage.workspace, 'calls.jsonl'), stdout);
  const clause = { effect: 'require-approval', after: 'untrusted-content' };
  const stricter = { servers, policies: { tools: { 'web.*': clause } } };
  await writeFile(join(stage.workspace, 'stricter.yaml'), JSON.stringify(stricter));
  const { code, report } = await policyTest(stage, '--calls', 'calls.jsonl', '--policy', 'stricter.yaml');
  expect(code).toBe(1);
  expect(report?.changes).toMatchObject([
    { agent: 'lead', tool: 'post', after: 'ask', calls: 1, rule_source: 'stricter.yaml:1' },
  ]);
});

test('the shadow policy is tested by name', async () => {
  const stage = await recorded();
  expect(await policyTest(stage, '--shadow')).toMatchObject({ code: 2, stderr: expect.stringContaining('no shadow') });
  await stage.configure({ servers, policies: { mode: 'shadow', tools: { 'web.fetch': 'deny' } } });
  expect((await policyTest(stage)).code).toBe(0);
  expect((await policyTest(stage, '--shadow')).report).toMatchObject({ changed: 1, changes: [{ agent: 'lead' }] });
});

test('calls that the shadow policy would decide differently are listed with its decision', async () => {
  const stage = await openStage();
  const tools = { 'web.post': { effect: 'deny', when: { to: 'all' } } };
  await stage.start({ servers, policies: { mode: 'shadow', tools } });
  await stage.hub.discover();
  for (const to of ['all', 'me']) await stage.call('web_post', { to });
  await stage.stop();
  const calls = async (...args: readonly string[]) =>
    (await runHere(['calls', ...args], { cwd: stage.workspace })).stdout.trimEnd().split('\n');
  expect((await calls('--json')).map((line) => JSON.parse(line).shadow)).toEqual(['deny', 'allow']);
  expect((await calls('--json', '--shadow')).map((line) => JSON.parse(line).args)).toEqual([{ to: 'all' }]);
  expect((await calls())[1]).toContain('ok (shadow: deny)');
});

test(verifies('policies:test-unknown', 'cut or redacted arguments are unknown where rules look at them'), async () => {
  const stage = await openStage();
  await stage.start({ servers });
  await stage.hub.discover();
  await stage.call('web_post', { to: 'me', text: 'x'.repeat(70_000) });
  await stage.call('web_post', { to: 'me', password: 'hunter2' });
  await stage.stop();
  expect((await policyTest(stage)).code).toBe(0);
  await stage.configure({ servers, policies: { tools: { 'web.*': { effect: 'deny', when: { to: 'all' } } } } });
  const { code, report } = await policyTest(stage);
  expect(code).toBe(1);
  expect(report).toMatchObject({ same: 0, changed: 0, unknown: 2 });
  expect(report?.unknowns.map(({ why }) => why).sort()).toEqual(['arguments-cut', 'arguments-redacted']);
  const { stdout } = await runHere(['policy', 'test'], { cwd: stage.workspace });
  expect(stdout).toContain('the audit log has only their beginning');
});

test('a test of nothing, of other lines or with a mistake does not pass', async () => {
  const stage = await recorded();
  await writeFile(stage.path('empty.jsonl'), '\n');
  await writeFile(
    stage.path('other.jsonl'),
    `${(await runHere(['calls', '--json'], { cwd: stage.workspace })).stdout}{}`,
  );
  await writeFile(stage.path('wrong.yaml'), 'policies: { tools: { web.post: { effect: alow } } }\n');
  expect(await policyTest(stage, '--calls', stage.path('empty.jsonl'))).toMatchObject({ code: 2 });
  expect(await policyTest(stage, '--calls', stage.path('missing.jsonl'))).toMatchObject({ code: 2 });
  expect(await policyTest(stage, '--calls', stage.path('other.jsonl'))).toMatchObject({
    code: 1,
    report: { same: 4, unreadable: 1 },
  });
  const mistaken = await policyTest(stage, '--policy', stage.path('wrong.yaml'));
  expect(mistaken).toMatchObject({ code: 3, stderr: expect.stringContaining('wrong.yaml:1') });
});

test('a server that is invalid here, or has not listed its tools, makes a call unknown', async () => {
  const stage = await recorded();
  const { stdout } = await runHere(['calls', '--json'], { cwd: stage.workspace });
  const other = await openStage();
  await writeFile(other.path('calls.jsonl'), stdout);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
  await other.configure({ servers: { web: { url: 'https://web.example/mcp', headers: { Token: '${MISSING}' } } } });
  const why = async () =>
    (await policyTest(other, '--calls', other.path('calls.jsonl'))).report?.unknowns.map((each) => each.why);
  expect(new Set(await why())).toEqual(new Set(['server-invalid']));
  await other.configure({ servers: { web: { url: 'https://web.example/mcp', readOnly: true } } });
  expect(new Set(await why())).toEqual(new Set(['tools-unknown']));
});
