import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { codeOf, openStage, type Stage, stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { settledView } from '../../support/views.ts';

const require = createRequire(import.meta.url);

/** An installed server, reached by its package. */
function installed(name: string, args: readonly string[] = [], more: object = {}): object {
  const file = require.resolve(`@modelcontextprotocol/${name}/dist/index.js`);
  return { command: process.execPath, args: [file, ...args], ...more };
}

const reading = [
  'files_directory_tree',
  'files_get_file_info',
  'files_list_allowed_directories',
  'files_list_directory',
  'files_list_directory_with_sizes',
  'files_read_file',
  'files_read_media_file',
  'files_read_multiple_files',
  'files_read_text_file',
  'files_search_files',
];

test(
  verifies('scopes:read-only', 'with a scope that reads, the real file server lists and calls what reads'),
  async () => {
    const stage = await openStage();
    await start(stage, { scopes: ['read:files'] });
    expect(await stage.names()).toEqual(reading);
    expect(await stage.say('files_list_allowed_directories')).toContain(stage.workspace);
    const path = stage.path('made-by-test');
    expect(codeOf(await stage.call('files_create_directory', { path }))).toBe(
      codeOf(await stage.call('files_no_such_tool', { path })),
    );
    expect(await stage.say('files_list_directory', { path: stage.workspace })).not.toContain('made-by-test');
    expect(stage.hub.explain(['tester'], 'files', 'write_file')).toMatchObject({
      effect: 'deny',
      reason: { kind: 'read-only', because: 'known-server', source: { file: 'quartermaster.yaml' } },
    });

    await start(stage, { scopes: ['read:files', 'write:files'] });
    expect(await stage.names()).toContain('files_create_directory');
  },
);

test(verifies('scopes:write-approval', 'tools that may write require approval, tools that read do not'), async () => {
  const stage = await openStage();
  await start(stage, { writeRequiresApproval: true }, { 'files.write_file': 'allow', 'files.move_*': 'allow' });
  const asking = [...(await settledView(stage.hub)).entries.values()]
    .filter(({ decision }) => decision.effect === 'ask')
    .map(({ tool }) => tool.name);
  expect(asking).toEqual(['create_directory', 'edit_file', 'move_file']);
  const held = await stage.call('files_create_directory', { path: stage.path('x') }, { approvalWaitMs: 0 });
  expect(codeOf(held)).toBe('APPROVAL_REQUIRED');
  await stage.say('files_write_file', { path: stage.path('allowed.txt'), content: 'hello' });
  expect(await stage.say('files_read_text_file', { path: stage.path('allowed.txt') })).toBe('hello');
});

test(verifies('scopes:untrusted', 'a server nobody knows is believed once it is trusted'), async () => {
  const stage = await openStage();
  const server = (trustAnnotations: boolean): object =>
    stdioServer('named-tools.mjs', ['quiet', '--reads', 'look', '--writes', 'break'], {
      readOnly: true,
      trustAnnotations,
    });
  await stage.start({ servers: { own: server(false) } });
  await stage.hub.discover();
  expect(await stage.names()).toEqual([]);
  expect(stage.hub.explain(['tester'], 'own', 'look').reason).toMatchObject({ because: 'untrusted-annotation' });
  expect(stage.hub.explain(['tester'], 'own', 'quiet').reason).toMatchObject({ because: 'no-word' });
  expect(stage.hub.explain(['tester'], 'own', 'break').reason).toMatchObject({ because: 'annotation' });
  await stage.configure({ servers: { own: server(true) } });
  await stage.hub.reload();
  expect(await stage.names()).toEqual(['own_look']);
  expect(await stage.say('own_look')).toBe('look');
});

test('the table of known servers agrees with the annotations of the installed ones', async () => {
  const stage = await openStage();
  const names = { files: 'server-filesystem', memory: 'server-memory', all: 'server-everything' };
  const servers = (more: object): Record<string, object> =>
    Object.fromEntries(
      Object.entries(names).map(([name, server]) => [
        name,
        installed(server, name === 'files' ? [stage.workspace] : [], more),
      ]),
    );
  await stage.start({ servers: servers({ writeRequiresApproval: true }) });
  await stage.hub.discover();
  const entries = [...(await settledView(stage.hub)).entries.values()];
  expect(entries.length).toBeGreaterThan(30);
  for (const { server, tool, decision } of entries) {
    // One of them says that it reads, and what it reads is the environment.
    const effect = tool.hints.readOnly === true && tool.name !== 'get-env' ? 'allow' : 'ask';
    expect([server, tool.name, decision.effect]).toEqual([server, tool.name, effect]);
    if (effect === 'ask') expect(decision.reason).toMatchObject({ because: 'known-server' });
  }
});

async function start(stage: Stage, access: object, tools: Readonly<Record<string, string>> = {}): Promise<void> {
  await stage.start({
    servers: { files: installed('server-filesystem', [stage.workspace], access) },
    policies: { tools },
  });
  await stage.hub.discover();
}
