import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { verifies } from '../../support/verifies.ts';
import { makeWorkspace } from '../qm.fixture.ts';
import { runHere } from '../run-here.fixture.ts';

test(verifies('edit:add', 'an address is recognised without --url'), async () => {
  const workspace = await makeWorkspace();
  const args = ['add', 'docs', 'https://docs.example/mcp', '--header', 'X-Team: us', '--no-start'];
  const added = await runHere([...args, '--workspace', workspace], { cwd: tmpdir(), env: { HOME: tmpdir() } });
  expect(added, added.stderr).toMatchObject({ code: 0, stdout: 'Added server docs in quartermaster.yaml:5.\n' });
  expect(parse(await readFile(join(workspace, 'quartermaster.yaml'), 'utf8'))).toMatchObject({
    servers: { docs: { url: 'https://docs.example/mcp', headers: { 'X-Team': 'us' } } },
  });
});

test.each([
  ['add files npx -y @acme/files .', '`qm add files -- npx -y @acme/files .`'],
  ['add --agent lead files npx --yes @acme/files', '`qm add --agent lead files -- npx --yes @acme/files`'],
  ['add files --env A=1 docker run -i files', '`qm add files --env A=1 -- docker run -i files`'],
  ['inspect npx -y @acme/files', '`qm inspect -- npx -y @acme/files`'],
])(verifies('edit:add', 'qm %s is explained with the corrected command'), async (line, corrected) => {
  const { code, stderr } = await runHere(line.split(' '), { cwd: tmpdir() });
  expect(code).toBe(2);
  expect(stderr).toContain(`Write -- before the program: ${corrected}`);
});

test('the corrected command hides a credential, and other typos are no missing dashes', async () => {
  const token = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789';
  const hidden = await runHere(['add', 'gh', 'npx', '-y', 'gh', `--token=${token}`], { cwd: tmpdir() });
  expect(hidden.stderr).toContain('qm add gh -- npx -y gh');
  expect(hidden.stderr).not.toContain(token);
  const typo = await runHere(['add', 'docs', '--ulr', 'https://a.example'], { cwd: tmpdir() });
  expect(typo.stderr).toContain('Did you mean --url?');
});
