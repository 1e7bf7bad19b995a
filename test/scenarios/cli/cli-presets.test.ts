// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfiguration } from '../../../src/config/index.ts';
import type { ServerSpec } from '../../../src/domain/index.ts';
import { bootstrapSchema, lsSchema, presetListSchema, syncSchema } from '../../../src/faces/cli/json-shapes.ts';
import { presets } from '../../../src/workspace-files/index.ts';
import { verifies } from '../../support/verifies.ts';
import { makeWorkspace, type QmResult, runQm } from '../qm.fixture.ts';
import { runHere } from '../run-here.fixture.ts';

const sources = 'ops/adk/servers';
const targets = '.mcp/servers';
const all = presets.map(({ id }) => id);
const needed = presets.flatMap(({ variables }) => variables.filter((each) => each.required).map(({ name }) => name));
const env = {
  ...Object.fromEntries(needed.map((name) => [name, `https://${name.toLowerCase().replaceAll('_', '-')}.example`])),
  OBSIDIAN_API_KEY: 'obsidian-key-1',
  NOTION_MCP_TOKEN: 'notion-token-1',
};

async function qmIn(workspace: string, ...args: string[]): Promise<QmResult> {
  return runQm([...args, '--workspace', workspace]);
}

async function put(workspace: string, file: string, text: string): Promise<void> {
  await mkdir(dirname(join(workspace, file)), { recursive: true });
  await writeFile(join(workspace, file), text);
}

/** The ready servers, without their sources. */
async function specs(workspace: string): Promise<Record<string, object>> {
  const configuration = await loadConfiguration({ env }, { workspace });
  const ready = [...configuration.servers.values()].flatMap((server) => (server.kind === 'ready' ? [server.spec] : []));
  const bare = ({ source: _, hides: __, access, ...rest }: ServerSpec): object => {
    const { source: ___, ...guards } = access;
    return { ...rest, access: guards };
  };
  return Object.fromEntries(ready.map((spec) => [spec.name, bare(spec)]));
}

test(verifies('preset:bootstrap', 'presets are written as files and become servers of the workspace'), async () => {
  const workspace = await makeWorkspace();
  const written = await qmIn(workspace, 'bootstrap');
  expect(written.code, written.stderr).toBe(0);
  expect(written.stdout.split('\n')).toContain('written  ops/adk/servers/notion.yaml');
  expect(written.stderr).toMatch(/OBSIDIAN_API_KEY +obsidian +needed .*\n/);
  expect(written.stderr).toMatch(/\nNext: .* doctor --workspace /);
  expect(await readdir(join(workspace, sources))).toEqual([
    'github.yaml',
    'notion.yaml',
    'obsidian.yaml',
    'supabase.yaml',
  ]);
  const ls = await qmIn(workspace, 'ls', '--json');
  const { servers, problems } = lsSchema.parse(JSON.parse(ls.stdout));
  // The server with an unset variable is invalid, and the others are idle.
  expect(servers.map(({ name, state }) => [name, state])).toEqual([
    ['github', 'idle'],
    ['notion', 'idle'],
    ['obsidian', 'invalid'],
    ['supabase', 'idle'],
  ]);
  expect(problems.map(({ server, severity }) => [server, severity])).toEqual([['obsidian', 'error']]);
  const again = await qmIn(workspace, 'bootstrap', '--json');
  const { files } = bootstrapSchema.parse(JSON.parse(again.stdout));
  expect(files.map(({ state }) => state)).toEqual(['unchanged', 'unchanged', 'unchanged', 'unchanged']);
});

test('the settings of presets reach the configuration', async () => {
  const workspace = await makeWorkspace();
  expect((await qmIn(workspace, 'bootstrap', ...all)).code).toBe(0);
  const configuration = await loadConfiguration({ env }, { workspace });
  expect(configuration.problems).toEqual([]);
  const { notion, supabase, github, obsidian, filesystem, memory } = await specs(workspace);
  expect(notion).toMatchObject({
    transport: { type: 'http', url: 'https://mcp.notion.com/mcp', headers: { Authorization: 'Bearer notion-token-1' } },
    fallbacks: [
      { type: 'sse', url: 'https://mcp.notion.com/sse' },
      { type: 'stdio', command: 'npx' },
    ],
    access: { scopes: ['read:pages', 'read:databases'] },
  });
  // Without its variables, it has neither a project nor an empty header.
  expect(supabase).toMatchObject({
    transport: { url: 'https://mcp.supabase.com/mcp?read_only=true', headers: {} },
    access: { readOnly: true },
  });
  expect(github).toMatchObject({ transport: { headers: {} }, access: { writeRequiresApproval: true } });
  expect(obsidian).toMatchObject({
    transport: {
      command: 'uvx',
      env: { OBSIDIAN_API_KEY: 'obsidian-key-1', OBSIDIAN_HOST: '127.0.0.1', OBSIDIAN_PORT: '27124' },
    },
  });
  expect(filesystem).toMatchObject({ limits: { ratePerMin: 60, timeoutMs: 30_000 } });
  expect(memory).toMatchObject({ limits: { ratePerMin: 120, timeoutMs: 20_000 } });
});

test(verifies('preset:keep', 'a file that differs is kept, and nothing is written at all'), async () => {
  const workspace = await makeWorkspace();
  const own = 'id: github\ncommand: node\n';
  await put(workspace, `${sources}/github.yaml`, own);
  const refused = await qmIn(workspace, 'bootstrap');
  expect(refused.code).toBe(1);
  expect(refused.stdout).toMatch(/differs +ops\/adk\/servers\/github\.yaml\n/);
  expect(refused.stderr).toMatch(
    /A file differs from its preset: ops\/adk\/servers\/github\.yaml\..*--force\. Nothing was written\./,
  );
  expect(await readdir(join(workspace, sources))).toEqual(['github.yaml']);
  expect(await readFile(join(workspace, sources, 'github.yaml'), 'utf8')).toBe(own);
  const forced = await qmIn(workspace, 'bootstrap', '--force', '--json');
  expect(forced.code).toBe(0);
  const { files } = bootstrapSchema.parse(JSON.parse(forced.stdout));
  expect(files.map(({ preset, state }) => [preset, state])).toEqual([
    ['notion', 'written'],
    ['supabase', 'written'],
    ['github', 'replaced'],
    ['obsidian', 'written'],
  ]);
  // A link could lead anywhere.
  await put(workspace, 'precious.txt', 'precious');
  await rm(join(workspace, sources, 'github.yaml'));
  await symlink('../../../precious.txt', join(workspace, sources, 'github.yaml'));
  const linked = await qmIn(workspace, 'bootstrap', '--force');
  expect(linked).toMatchObject({ code: 1, stderr: expect.stringContaining('A link stands in place of') });
  expect(await readFile(join(workspace, 'precious.txt'), 'utf8')).toBe('precious');
});

test('presets can be listed, and an unknown one is refused, even next to a known one', async () => {
  const workspace = await makeWorkspace();
  const listed = await qmIn(workspace, 'bootstrap', '--list', '--json');
  expect(presetListSchema.parse(JSON.parse(listed.stdout)).map(({ id }) => id)).toEqual(all);
  const { stdout, stderr } = await qmIn(workspace, 'bootstrap', '--list');
  expect(stderr).toMatch(
    /Browser logins are not supported yet.*\nNext: `qm bootstrap PRESET…`, or `qm add NAME --preset PRESET`/,
  );
  expect(stdout).toMatch(/obsidian +preset +key +uvx, OBSIDIAN_API_KEY +/);
  expect(stdout).toMatch(/trello +pattern +key +TRELLO_MCP_URL, TRELLO_API_KEY +/);
  const refused = await qmIn(workspace, 'bootstrap', 'notion', 'jira');
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/no preset "jira"\. Available: filesystem, /),
  });
  expect(await readdir(workspace)).toEqual([]);
});

test('a preset hidden by a stronger file is reported', async () => {
  const workspace = await makeWorkspace('servers:\n  github:\n    command: node\n');
  const { code, stderr } = await qmIn(workspace, 'bootstrap', 'github');
  expect(code).toBe(0);
  expect(stderr).toContain('warning ops/adk/servers/github.yaml has no effect: quartermaster.yaml:2 hides it.');
});

test(verifies('preset:add', 'a preset added under a different name is the same server'), async () => {
  const [folder, file] = [await makeWorkspace(), await makeWorkspace()];
  expect((await qmIn(folder, 'bootstrap', ...all)).code).toBe(0);
  for (const id of all)
    expect((await runHere(['add', `my-${id}`, '--preset', id, '--no-start'], { cwd: file })).code).toBe(0);
  const [theirs, ours] = [await specs(folder), await specs(file)];
  const text = JSON.stringify(ours).replaceAll(file, folder).replaceAll('"my-', '"');
  const without = (servers: Record<string, object>): object =>
    Object.fromEntries(Object.entries(servers).map(([id, spec]) => [id, { ...spec, connectionKey: '' }]));
  expect(without(JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(without(theirs))));
});

const olderForms = {
  flat: 'server_id: flat\ntype: mcp\ncommand: node\nargs:\n  - a b\n  - 007\n  - ${WORKSPACE_ROOT}\nscopes: ["read:files"]\nlimits: {rate_per_min: 6, timeout_s: 5}\n',
  second:
    'server_id: second\nversion: 2\ntransport: {command: node, env: {A: 1, B: yes}, cwd: sub}\npermissions: {scope: ["db:select"], tools: [a]}\nenabled: false\n',
  third:
    'id: third\ntransport: {type: sse, url: "https://a.example/${X:-y}"}\noptions: {read_only: off}\ninstead: use gh\n',
  own: 'id: own\nbuiltin: git\nargs: [--repository, 007]\nfallback: [{builtin: fetch}]\n',
};

test(verifies('sync:same', 'the output of sync is read as the same server as its source'), async () => {
  const workspace = await makeWorkspace();
  expect((await qmIn(workspace, 'bootstrap', ...all)).code).toBe(0);
  for (const [id, text] of Object.entries(olderForms)) await put(workspace, `${sources}/${id}.yaml`, text);
  const before = await specs(workspace);
  expect(Object.keys(before).sort()).toEqual([...all, ...Object.keys(olderForms)].sort());
  const synced = await runQm(['sync', '--workspace', workspace], { env });
  expect(synced.code, synced.stderr).toBe(0);
  const configuration = await loadConfiguration({ env }, { workspace });
  for (const server of configuration.servers.values()) {
    expect(server.kind === 'ready' && server.spec.source.file).toMatch(/^\.mcp\/servers\/[\w-]+\.json$/);
  }
  expect(await specs(workspace)).toEqual(before);
  // The output of sync suffices without the YAML sources.
  await rm(join(workspace, sources), { recursive: true });
  expect(await specs(workspace)).toEqual(before);
  for (const file of await readdir(join(workspace, targets))) {
    const text = await readFile(join(workspace, targets, file), 'utf8');
    for (const value of Object.values(env)) expect(text).not.toContain(value);
  }
});

test(verifies('sync:check', '--check lists missing, stale and orphaned files and writes nothing'), async () => {
  const workspace = await makeWorkspace();
  await put(workspace, `${sources}/a.yaml`, 'id: a\ntransport: {command: node}\n');
  await put(workspace, `${sources}/b.yaml`, 'id: b\ntransport: {command: node}\n');
  await put(workspace, `${sources}/pg.yaml`, 'id: pg\ntype: postgres\nconn: {url_env: PG}\n');
  await put(workspace, `${targets}/own.json`, '{"id":"own","command":"node"}');
  const states = async (...args: string[]): Promise<unknown> => {
    const { code, stdout } = await qmIn(workspace, 'sync', '--json', ...args);
    const { files } = syncSchema.parse(JSON.parse(stdout));
    return [code, ...files.map(({ file, state }) => `${state} ${file.slice(targets.length + 1)}`)];
  };
  expect(await states('--check')).toEqual([1, 'missing a.json', 'missing b.json']);
  expect(await readdir(join(workspace, targets))).toEqual(['own.json']);
  expect(await states()).toEqual([0, 'written a.json', 'written b.json']);
  const first = await readFile(join(workspace, targets, 'a.json'), 'utf8');
  expect(await states('--check')).toEqual([0, 'unchanged a.json', 'unchanged b.json']);
  await put(workspace, `${sources}/a.yaml`, 'id: a\ntransport: {command: node, args: [x]}\n');
  await rm(join(workspace, sources, 'b.yaml'));
  expect(await states('--check')).toEqual([1, 'stale a.json', 'orphan b.json']);
  expect(await readFile(join(workspace, targets, 'a.json'), 'utf8')).toBe(first);
  expect(await states()).toEqual([0, 'updated a.json', 'orphan b.json']);
  expect(await states('--prune')).toEqual([0, 'unchanged a.json', 'removed b.json']);
  expect((await readdir(join(workspace, targets))).sort()).toEqual(['a.json', 'own.json']);
  const text = await qmIn(workspace, 'sync', '--check');
  expect(text.stderr).toBe(
    'ops/adk/servers/pg.yaml is of type postgres, not an MCP server.\nAll files are up to date.\n',
  );
  await put(workspace, `${sources}/a.yaml`, 'id: a\ntransport: {command: deno}\n');
  expect((await qmIn(workspace, 'sync', '--check')).stderr).toContain('Some files are out of date. Run `qm sync`.');
});

test(
  verifies('sync:refuse', 'sync never touches files that it did not make, and leaves nothing half done'),
  async () => {
    const good = 'id: good\ntransport: {command: node}\n';
    const cases: readonly [files: Record<string, string>, says: RegExp][] = [
      [
        { [`${targets}/a.json`]: '{"id":"a","command":"x"}', [`${sources}/a.yaml`]: 'id: a\ncommand: y\n' },
        /a\.json was not made by `qm sync`/,
      ],
      [
        { [`${targets}/a.yaml`]: 'id: a\ncommand: x\n', [`${sources}/a.yaml`]: 'id: a\ncommand: y\n' },
        /a\.yaml was not made by `qm sync`/,
      ],
      [
        { [`${sources}/a.yaml`]: 'id: a\n', [`${sources}/b.yaml`]: 'id: [' },
        /a\.yaml has no "transport"\. \(and 1 more\) Nothing was written/,
      ],
      [{ [`${sources}/a.yaml`]: 'id: good\ncommand: y\n' }, /have the same id "good"/],
      [
        {
          [`${sources}/a.yaml`]:
            'id: a\ntransport: {url: "https://a.example", headers: {Authorization: Bearer ghp_abcdefghijklmnopqrstuvwxyz012345}}\n',
        },
        /a\.yaml holds what looks like a secret; it is not copied\. Nothing was written/,
      ],
    ];
    for (const [files, says] of cases) {
      const workspace = await makeWorkspace();
      await put(workspace, `${sources}/good.yaml`, good);
      for (const [file, text] of Object.entries(files)) await put(workspace, file, text);
      const result = await qmIn(workspace, 'sync');
      expect(result.stderr).toMatch(says);
      expect(result.stderr).not.toContain('ghp_');
      expect(result).toMatchObject({ code: 3, stdout: '' });
      expect(await readdir(join(workspace, targets)).catch(() => [])).not.toContain('good.json');
      for (const [file, text] of Object.entries(files))
        expect(await readFile(join(workspace, file), 'utf8')).toBe(text);
    }
    expect((await qmIn(await makeWorkspace(), 'sync')).stderr).toMatch(
      /ops\/adk\/servers\/ is empty\. `qm bootstrap` writes/,
    );
  },
);

test('neither sync nor bootstrap writes through a linked folder', async () => {
  for (const [link, command] of [
    ['.mcp', 'sync'],
    ['ops/adk', 'bootstrap'],
  ] as const) {
    const [workspace, elsewhere] = [await makeWorkspace(), await makeWorkspace()];
    if (command === 'sync') await put(workspace, `${sources}/good.yaml`, 'id: good\ntransport: {command: node}\n');
    await mkdir(dirname(join(workspace, link)), { recursive: true });
    await symlink(elsewhere, join(workspace, link));
    const before = await readdir(elsewhere);
    const result = await qmIn(workspace, command);
    expect(result).toMatchObject({ code: 3, stderr: expect.stringContaining(`${link} is a symbolic link`) });
    expect(await readdir(elsewhere)).toEqual(before);
  }
});

test('a server made by sync is enabled and disabled in its source, and both files agree', async () => {
  const workspace = await makeWorkspace();
  expect((await qmIn(workspace, 'bootstrap', 'notion')).code).toBe(0);
  expect((await qmIn(workspace, 'sync')).code).toBe(0);
  const off = await qmIn(workspace, 'disable', 'notion');
  expect(off.stdout).toBe('Server notion is disabled in ops/adk/servers/notion.yaml.\n');
  expect((await specs(workspace)).notion).toMatchObject({ enabled: false });
  expect((await qmIn(workspace, 'sync', '--check')).code).toBe(0);
  const forced = await qmIn(workspace, 'bootstrap', '--force', 'notion');
  expect(forced.stderr).toMatch(/\nNext: .* sync --workspace .*, then qm doctor/);
  await rm(join(workspace, sources, 'notion.yaml'));
  const orphan = await qmIn(workspace, 'enable', 'notion');
  expect(orphan).toMatchObject({ code: 2, stderr: expect.stringContaining('`qm sync --prune` removes it') });
});
