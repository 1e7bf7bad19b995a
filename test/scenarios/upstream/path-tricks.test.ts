import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStage, type Stage } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { pathTricks } from './path-tricks.fixture.ts';

const require = createRequire(import.meta.url);
const program = require.resolve('@modelcontextprotocol/server-filesystem/dist/index.js');

const secret = 'the secret text';

/** A workspace with a file server on it, and links in `docs` to the file and around it. */
async function openFiles(target: string, policies: object): Promise<Stage> {
  const stage = await openStage();
  for (const folder of ['docs/deep', 'secrets']) await mkdir(stage.path(folder), { recursive: true });
  await writeFile(stage.path('docs/a.md'), 'a page');
  await writeFile(stage.path('docs/.placeholder'), '');
  await writeFile(stage.path(target), secret);
  const links: Readonly<Record<string, string>> = {
    'link-to-file': stage.path(target),
    'link-to-folder': stage.path('secrets'),
    'link-to-link': stage.path('docs/link-to-file'),
    'link-to-deep': stage.path('docs/deep'),
    'link-to-root': stage.workspace,
    'relative-link': `../${target}`,
    'link-to-nothing': stage.path('secrets/new.txt'),
    circle: 'circle',
  };
  for (const [name, to] of Object.entries(links)) await symlink(to, stage.path(`docs/${name}`));
  const files = { command: process.execPath, args: [program, stage.workspace] };
  await stage.start({ servers: { files }, policies });
  await stage.hub.discover();
  return stage;
}

const denyFolder = {
  tools: {
    'files.*': [
      { effect: 'deny', when: { path: { inside: 'secrets' } } },
      { effect: 'deny', when: { 'paths.*': { inside: 'secrets' } } },
      { effect: 'deny', when: { source: { inside: 'secrets' } } },
      { effect: 'deny', when: { destination: { inside: 'secrets' } } },
    ],
  },
};
const allowFolder = {
  tools: {
    'files.*': [
      { effect: 'allow', when: { path: { inside: 'docs' } } },
      { effect: 'allow', when: { 'paths.*': { inside: 'docs' } } },
      { effect: 'deny' },
    ],
  },
};

test('without a rule, many of the spellings reach the file', async () => {
  const target = 'secrets/key.txt';
  const stage = await openFiles(target, {});
  let reached = 0;
  for (const { path } of pathTricks(stage.workspace, target)) {
    if (JSON.stringify(await stage.call('files_read_text_file', { path })).includes(secret)) reached++;
  }
  expect(reached).toBeGreaterThan(15);
});

test(
  verifies('policy:protected-paths', 'configuration and keys are denied, and allowPaths lifts what it names'),
  async () => {
    const stage = await openFiles('.env', {});
    const tries: readonly (readonly [string, object])[] = [
      ['write_file', { path: 'quartermaster.yaml', content: '' }],
      ['write_file', { path: 'docs/../.mcp.json', content: '{}' }],
      ['write_file', { path: '.git/hooks/pre-commit', content: '' }],
      ['read_text_file', { path: '.git/config' }],
      ['read_text_file', { path: 'sub/.env.local' }],
      ['read_text_file', { path: '.runs/agents/x/mcp_calls.jsonl' }],
      ['list_directory', { path: '.ssh' }],
      ['move_file', { source: 'docs', destination: '.squad' }],
      ['create_directory', { path: '.vscode/mcp.json' }],
    ];
    for (const [tool, args] of tries) {
      expect([args, await stage.call(`files_${tool}`, args)]).toMatchObject([
        args,
        { error: { code: 'POLICY_DENIED' } },
      ]);
    }
    expect(await stage.say('files_list_directory', { path: '.' })).toContain('.env');
    const lines = await stage.ledger();
    expect(lines.filter(({ rule }) => rule === 'protected-path')).toHaveLength(tries.length);
    await stage.stop();
    const files = { command: process.execPath, args: [program, stage.workspace] };
    await stage.start({ servers: { files }, allowPaths: ['.env', '.'] });
    await stage.hub.discover();
    expect(await stage.say('files_read_text_file', { path: '.env' })).toBe(secret);
    expect(await stage.call('files_write_file', tries[0]?.[1])).toMatchObject({ error: { code: 'POLICY_DENIED' } });
  },
);

const policies: readonly (readonly [string, string, object])[] = [
  ['deny inside secrets', 'secrets/key.txt', denyFolder],
  ['allow inside docs', 'secrets/key.txt', allowFolder],
  ['the protection of .env', '.env', {}],
];

test.each(policies)(verifies('policy:paths', 'no spelling of a path gets around: %s'), async (_, target, rules) => {
  const stage = await openFiles(target, rules);
  const tricks = pathTricks(stage.workspace, target);
  expect(tricks.length).toBeGreaterThan(100);
  const reached: string[] = [];
  for (const { title, path } of tricks) {
    const said = JSON.stringify([
      await stage.call('files_read_text_file', { path }),
      await stage.call('files_read_multiple_files', { paths: ['docs/a.md', path] }),
    ]);
    if (said.includes(secret)) reached.push(`read ${title}`);
    await stage.call('files_write_file', { path, content: 'overwritten' });
    await stage.call('files_edit_file', { path, edits: [{ oldText: secret, newText: 'edited' }] });
    await stage.call('files_move_file', { source: path, destination: `docs/stolen` });
    await stage.call('files_move_file', { source: 'docs/a.md', destination: path });
    const left = await readFile(stage.path(target), 'utf8').catch(() => 'gone');
    if (left !== secret) reached.push(`changed ${title}`);
    await writeFile(stage.path(target), secret);
    await writeFile(stage.path('docs/a.md'), 'a page');
  }
  expect(reached).toEqual([]);
  await expect(readFile(join(stage.workspace, 'secrets/new.txt'))).rejects.toMatchObject({ code: 'ENOENT' });
  expect(await stage.say('files_read_text_file', { path: 'docs/a.md' })).toBe('a page');
  expect(await stage.say('files_read_text_file', { path: stage.path('docs/./deep/../a.md') })).toBe('a page');
});
