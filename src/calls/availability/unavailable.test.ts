import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { HubError } from '../../base/index.ts';
import type { TransportSpec } from '../../domain/index.ts';
import { createPolicyCompiler } from '../../governance/index.ts';
import { draftConfiguration } from '../../governance/policy/configuration.fixture.ts';
import { handlesOf, sourceOf } from '../scripted-server.fixture.ts';
import { createNameBook } from '../views/naming/names.ts';
import { buildView, type View, type ViewEntry } from '../views/view.ts';
import { statusResult } from './status-tool.ts';
import { forCaller, missingTool } from './unavailable.ts';

const now = 1_000_000;

function stdio(command: string, ...args: string[]): TransportSpec {
  return { type: 'stdio', command, args, env: {}, cwd: '/' };
}

const refused = new HubError('UPSTREAM_UNAVAILABLE', 'refused');
const offered = { files: [{ name: 'read', inputSchema: { type: 'object' } }] };

function stage(instead?: string, transport?: TransportSpec) {
  const draft = draftConfiguration({
    servers: { files: {}, git: {}, 'git.extra': {}, hidden: {} },
    agents: { dev: { servers: ['files', 'git', 'git.extra'] } },
  });
  const servers = new Map(draft.servers);
  for (const [name, server] of servers) {
    if (server.kind === 'ready') {
      servers.set(name, {
        ...server,
        spec: { ...server.spec, instead, transport: transport ?? server.spec.transport },
      });
    }
  }
  const configuration = { ...draft, servers };
  const handles = handlesOf(configuration, offered);
  const source = sourceOf(configuration, handles);
  const view: View = buildView(source, createPolicyCompiler(configuration)(['dev']), ['dev']);
  const entry = view.entries.get('files_read') as ViewEntry; // offered above
  for (const [name, handle] of handles) {
    handle.failure = refused;
    handle.status = {
      state: 'open-circuit',
      error: `Server "${name}" cannot be reached: refused.`,
      retryAt: now + 59_500,
    };
  }
  return { view, entry, handles };
}

test('the message for an unavailable server has the alternative and the time of the next attempt', () => {
  const { entry } = stage('Use the gh command line. ');
  const error = new HubError('UPSTREAM_UNAVAILABLE', 'Server "files" is unavailable: refused', {
    hint: 'Nothing was sent. The next attempt is due in 59.5 s.',
    details: { server: 'files', retryAfterMs: 59_500, stderrTail: 'no port' },
  });
  const told = forCaller(error, entry, now);
  expect(told.message).toBe(
    'Server "files" is unavailable: refused. Nothing was sent. Meanwhile: Use the gh command line. The hub tries again in 60 s.',
  );
  expect(told).toMatchObject({
    code: 'UPSTREAM_UNAVAILABLE',
    hint: undefined,
    details: {
      server: 'files',
      tool: 'read',
      state: 'open-circuit',
      retryAfterMs: 59_500,
      instead: 'Use the gh command line',
      stderrTail: 'no port',
    },
  });
});

test('without a word in the configuration the agent continues without the tool', () => {
  const { entry, handles } = stage();
  const login = new HubError('UPSTREAM_NEEDS_LOGIN', 'Server "files" requires a login (401).', {
    hint: 'Set its token.',
  });
  expect(forCaller(login, entry, now).message).toBe(
    'Server "files" requires a login (401). Set its token. Meanwhile: continue without this tool. The hub tries again in 60 s.',
  );
  const files = handles.get('files');
  if (files !== undefined) files.status = { state: 'connected' };
  const failed = new HubError('UPSTREAM_FAILED', 'Server "files" answered with HTTP 500.');
  expect(forCaller(failed, entry, now).message).toBe(
    'Server "files" answered with HTTP 500. Meanwhile: continue without this tool.',
  );
  expect(forCaller(failed, entry, now).details).toEqual({
    server: 'files',
    tool: 'read',
    state: 'connected',
    instead: 'continue without this tool',
  });
});

test.each([
  [{ type: 'http', url: 'https://api.githubcopilot.com/mcp/', headers: {} }, 'use the `gh` command line'],
  [stdio('npx', '-y', '@modelcontextprotocol/server-postgres'), 'use the `psql` command line'],
  [{ type: 'builtin', builtin: 'git', args: [], env: {}, cwd: '/' }, 'use the `git` command line'],
] satisfies [TransportSpec, string][])(
  verifies('calls:alternative', 'without a word in the configuration a well-known server has its command line: %j'),
  (transport, said) => {
    const { entry, view } = stage(undefined, transport);
    const error = new HubError('UPSTREAM_UNAVAILABLE', 'Server "files" is unavailable: refused');
    expect(forCaller(error, entry, now)).toMatchObject({
      message: expect.stringContaining(`Meanwhile: ${said}.`),
      details: { instead: said },
    });
    expect(missingTool(view, 'git_log', now).message).toContain(`Meanwhile: ${said}.`);
    const { value } = statusResult(view);
    expect(JSON.stringify(value)).toContain(`git cannot be reached; the hub keeps trying. Meanwhile: ${said}.`);
    const own = stage('ask in the chat', transport);
    expect(forCaller(error, own.entry, now).message).toContain('Meanwhile: ask in the chat.');
  },
);

test('a failure that is not of the connection is told as it is', () => {
  const { entry } = stage('use the gh command line');
  for (const code of ['UPSTREAM_TIMEOUT', 'UPSTREAM_LOST', 'CANCELLED', 'RATE_LIMITED', 'INTERNAL'] as const) {
    const told = forCaller(new HubError(code, 'It went wrong.', { hint: 'Look.' }), entry, now);
    expect(told).toMatchObject({ code, message: 'It went wrong.', hint: 'Look.', details: { tool: 'read' } });
  }
});

test('an unknown tool of a server that nobody could ask is told with the server; others stay unknown', () => {
  const { view, handles } = stage('use the git command line');
  for (const name of ['git_log', 'git.log']) {
    expect(missingTool(view, name, now)).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      message:
        'Server "git" is unavailable, so its tools are not in your list: Server "git" cannot be reached: refused. Nothing was sent. ' +
        'Meanwhile: use the git command line. The hub tries again in 60 s.',
      details: { server: 'git', tool: name, state: 'open-circuit', instead: 'use the git command line' },
    });
  }
  expect(missingTool(view, 'git.extra.log', now).details.server).toBe('git.extra');
  expect(missingTool(view, 'git_extra_log', now).details.server).toBe('git.extra');
  // A server of somebody else does not exist for this agent; a known server has no such tool.
  for (const name of ['hidden_log', 'hidden.log', 'files_log', 'nothing', 'gitlog']) {
    expect(missingTool(view, name, now)).toMatchObject({ code: 'TOOL_UNKNOWN', message: `Unknown tool: ${name}` });
  }
  const git = handles.get('git');
  if (git !== undefined) git.status = { state: 'needs-login' };
  expect(missingTool(view, 'git_log', now).code).toBe('UPSTREAM_NEEDS_LOGIN');
  if (git !== undefined) [git.status, git.failure] = [{ state: 'connecting' }, undefined];
  expect(missingTool(view, 'git_log', now)).toMatchObject({
    code: 'UPSTREAM_UNAVAILABLE',
    message: expect.stringMatching(/^Server "git" is still starting.*Call this tool again/),
    details: { server: 'git', state: 'connecting', retryAfterMs: 5000 },
  });
  if (git !== undefined) git.failure = refused;
  if (git !== undefined) git.status = { state: 'connecting', error: 'refused' };
  expect(missingTool(view, 'git_log', now)).toMatchObject({
    code: 'UPSTREAM_UNAVAILABLE',
    message: expect.stringMatching(/: refused\. Nothing was sent\..* The hub tries again in 1 s\.$/),
    details: { retryAfterMs: 0, state: 'connecting' },
  });
});

test('a tool of a server that is away for too long is told by the name that the agent saw, and only if it had it', () => {
  const draft = draftConfiguration({
    servers: { files: {}, git: {} },
    agents: { dev: { servers: ['files', 'git'] } },
    policy: { 'files.erase': 'deny' },
  });
  const tools = ['read', 'erase'].map((name) => ({ name, inputSchema: { type: 'object' } }));
  const handles = handlesOf(draft, { files: tools, git: [] });
  const files = handles.get('files');
  if (files !== undefined) {
    files.lastCatalog = files.catalog;
    files.catalog = undefined;
    files.status = { state: 'open-circuit', error: 'refused', retryAt: now + 5000 };
  }
  const source = { ...sourceOf(draft, handles), names: createNameBook('preserved') };
  const view = buildView(source, createPolicyCompiler(draft)(['dev']), ['dev']);
  expect([view.entries.size, view.undiscovered.map(({ spec }) => spec.name)]).toEqual([0, ['files']]);
  expect(missingTool(view, 'read', now)).toMatchObject({
    code: 'UPSTREAM_UNAVAILABLE',
    message: expect.stringMatching(/^Server "files" is unavailable.* The hub tries again in 5 s\.$/),
    details: { server: 'files', tool: 'read', retryAfterMs: 5000 },
  });
  for (const name of ['erase', 'write']) expect(missingTool(view, name, now).code).toBe('TOOL_UNKNOWN');
});
