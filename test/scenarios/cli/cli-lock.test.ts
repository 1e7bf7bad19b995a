import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { definitionsSchema } from '../../../src/faces/api/index.ts';
import { doctorSchema, lockSchema, serveLineSchema } from '../../../src/faces/cli/json-shapes.ts';
import { stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { honest, poison, tool } from '../hub/rug-pull.fixture.ts';
import { configure, makeWorkspace, runQm, serveQm } from '../qm.fixture.ts';

const changed = {
  tools: [tool('announce'), tool('exit'), tool('read', poison), tool('put', 'Does write.')],
  instructions: 'Be kind.',
};

/** A workspace with one locked server. */
async function lockedWorkspace() {
  const workspace = await makeWorkspace();
  const file = join(workspace, 'definitions.json');
  await writeFile(file, JSON.stringify({ ...honest, instructions: 'Be kind.' }));
  await configure(workspace, { servers: { notes: stdioServer('rug-pull.mjs', [file]) } });
  const qm = (...args: string[]) => runQm([...args, '--workspace', workspace]);
  const hub = await serveQm(workspace);
  const first = await qm('lock');
  expect(first).toMatchObject({ code: 0, stdout: '' });
  expect(first.stderr).toContain('Wrote quartermaster.lock: 5 definitions of 1 server.');
  return { workspace, hub, qm, lists: (definitions: object) => writeFile(file, JSON.stringify(definitions)) };
}

test(verifies('lock:frozen', '--check and doctor --frozen fail if anything differs, and name it'), async () => {
  const { qm, lists, hub } = await lockedWorkspace();
  expect(await qm('lock', '--check')).toMatchObject({ code: 0, stdout: '' });
  expect(await qm('doctor', '--frozen')).toMatchObject({ code: 0 });
  await lists(changed);
  const check = await qm('lock', '--check');
  expect(check).toMatchObject({ code: 1, stdout: 'notes.read changed\nnotes.put renamed from write\n' });
  const frozen = await qm('doctor', '--frozen', '--json');
  expect(frozen.code).toBe(1);
  expect(doctorSchema.parse(JSON.parse(frozen.stdout)).problems).toMatchObject([
    { severity: 'error', server: 'notes', message: expect.stringContaining('read changed, put renamed from write') },
  ]);
  expect((await qm('doctor')).code).toBe(0);
  hub.signal('SIGTERM');
  await hub.ended();
});

test(verifies('lock:diff', 'qm lock --diff shows the lines that went and came; ls names the server'), async () => {
  const { qm, lists, hub } = await lockedWorkspace();
  await lists(changed);
  const diff = await qm('lock', '--diff');
  expect(diff).toMatchObject({ code: 0 });
  expect(diff.stdout.split('\n')).toEqual([
    'notes.read changed',
    '  -   "description": "Does read.",',
    `  +   "description": "${poison}",`,
    'notes.put renamed from write',
    '  -   "name": "write",',
    '  +   "name": "put",',
    '',
  ]);
  const ls = await qm('ls');
  expect(ls.stdout).toMatch(/^notes +connected .* 2 definitions withheld\./m);
  expect(ls.stderr).toContain('2 definitions of server "notes" are not the accepted ones, and agents do not get them');
  hub.signal('SIGTERM');
  await hub.ended();
});

test(verifies('lock:accept', 'a command accepts one definition, or all of a server'), async () => {
  const { qm, lists, hub, workspace } = await lockedWorkspace();
  await lists(changed);
  expect(await qm('lock', 'accept', 'notes.write2')).toMatchObject({ code: 2 });
  expect(await qm('lock', 'accept', 'notes.read')).toMatchObject({ code: 0, stdout: 'notes.read changed\n' });
  expect((await qm('tools', '--agent', 'dev')).stdout).toContain('notes_read');
  expect((await qm('tools', '--agent', 'dev')).stdout).not.toContain('notes_put');
  const rest = await qm('lock', 'accept', 'notes', '--json');
  expect(lockSchema.parse(JSON.parse(rest.stdout))).toMatchObject({
    written: true,
    servers: [{ server: 'notes', changes: [{ name: 'put', change: 'renamed', from: 'write' }] }],
  });
  expect(await qm('lock', '--check')).toMatchObject({ code: 0 });
  const text = await readFile(join(workspace, 'quartermaster.lock'), 'utf8');
  expect(text).toContain('"put": "sha256:');
  expect(text).not.toContain('"write"');
  hub.signal('SIGTERM');
  await hub.ended();
});

test(verifies('lock:accept', 'a name that a server chose to mean two things accepts none of them'), async () => {
  const { qm, lists, hub } = await lockedWorkspace();
  await lists({ ...changed, tools: [...changed.tools, tool('instructions')], instructions: poison });
  await qm('call', 'notes.exit', '--agent', 'dev');
  const refused = await qm('lock', 'accept', 'notes.instructions');
  expect(refused).toMatchObject({ code: 2 });
  expect(refused.stderr).toContain('may mean instructions of server notes or tool "instructions" of server notes');
  hub.signal('SIGTERM');
  await hub.ended();
});

test(verifies('lock:accept', 'over the API, only exactly what was seen is accepted'), async () => {
  const { qm, lists, hub } = await lockedWorkspace();
  const { adminTokenFile } = serveLineSchema.parse(JSON.parse(hub.firstLine));
  const authorization = `Bearer ${(await readFile(adminTokenFile, 'utf8')).trim()}`;
  const api = async (path: string, body?: object) => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${hub.url}/api/${path}`, { ...init, headers: { authorization } });
    return { status: response.status, body: (await response.json()) as unknown };
  };
  await lists(changed);
  await qm('lock', '--diff');
  const [notes] = definitionsSchema.parse((await api('definitions')).body).servers;
  expect(notes?.changes).toMatchObject([
    { name: 'read', change: 'changed', before: expect.stringContaining('Does read.') },
    { name: 'put', change: 'renamed', from: 'write' },
  ]);
  const read = notes?.definitions.find(({ name }) => name === 'read');
  const other = `sha256:${'0'.repeat(64)}`;
  const order = (fingerprint?: string) => ({
    server: 'notes',
    definitions: [{ kind: 'tool', name: 'read', ...(fingerprint === undefined ? {} : { fingerprint }) }],
  });
  expect(await api('definitions/accept', order(other))).toMatchObject({ status: 400 });
  expect(await api('definitions/accept', order())).toMatchObject({ status: 400 });
  expect((await qm('tools', '--agent', 'dev')).stdout).not.toContain('notes_read');
  expect(await api('definitions/accept', order(read?.fingerprint))).toMatchObject({ status: 200 });
  expect((await qm('tools', '--agent', 'dev')).stdout).toContain('notes_read');
  const agent = await qm('token', 'issue', '--agent', 'dev', '--json');
  const { token } = JSON.parse(agent.stdout) as { token: string }; // tested elsewhere
  const denied = await fetch(`${hub.url}/api/definitions`, { headers: { authorization: `Bearer ${token}` } });
  expect(denied.status).toBe(401);
  hub.signal('SIGTERM');
  await hub.ended();
});

test('qm lock SERVER needs a lockfile, and nothing is written through a link', async () => {
  const workspace = await makeWorkspace({ servers: { echo: stdioServer('echo-stdio.mjs') } });
  const qm = (...args: string[]) => runQm([...args, '--foreground', '--workspace', workspace]);
  expect(await qm('lock', 'echo')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There is no quartermaster.lock'),
  });
  expect(await qm('lock', '--check')).toMatchObject({ code: 2 });
  await writeFile(join(workspace, 'other'), '{"version":1,"servers":{}}');
  await symlink('other', join(workspace, 'quartermaster.lock'));
  expect(await qm('lock')).toMatchObject({ code: 3, stderr: expect.stringContaining('is a symbolic link') });
  expect(await readFile(join(workspace, 'other'), 'utf8')).toBe('{"version":1,"servers":{}}');
});
