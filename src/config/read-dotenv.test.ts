// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import type { Fleet } from '../domain/index.ts';
import { loadFleet } from './load-fleet.ts';
import { createWorkspace, invalid, load, onlyProblem, ready } from './workspace.fixture.ts';

const own = (env: string): string => `servers:\n  s: { command: x, env: { V: ${JSON.stringify(env)} } }\n`;

function withDotEnv(dotEnv: string | Uint8Array, written: string, env = {}): Promise<Fleet> {
  return load({ '.env': dotEnv, 'quartermaster.yaml': own(written) }, env);
}

test(verifies('variables:dotenv', 'it beats the environment, and predefined names beat both'), async () => {
  const dotEnv = 'A=from-the-file\nWORKSPACE_ROOT=elsewhere\nSQUAD_ROOT=elsewhere\nEMPTY=\n';
  const env = { A: 'from-the-environment', B: 'of-the-environment', WORKSPACE_ROOT: 'nowhere', EMPTY: 'not-empty' };
  const fleet = await withDotEnv(dotEnv, '${A} ${B} ${WORKSPACE_ROOT} ${SQUAD_ROOT} [${EMPTY}]', env);
  expect(fleet.problems).toEqual([]);
  expect(ready(fleet, 's').transport).toMatchObject({
    env: { V: `from-the-file of-the-environment ${fleet.workspace} ${fleet.workspace}/.squad []` },
  });
  expect(fleet.files).toEqual(['quartermaster.yaml', '.env']);
});

test(verifies('variables:dotenv', 'what is used is secret, and nothing else reaches a program'), async () => {
  const fleet = await withDotEnv('USED=secret-of-one\nOTHER=secret-of-two\n', '${USED}');
  expect(fleet.secrets).toEqual(['secret-of-one']);
  expect(ready(fleet, 's').transport).toMatchObject({ env: { V: 'secret-of-one' } });
  expect(JSON.stringify([...fleet.servers])).not.toContain('secret-of-two');
});

test(verifies('variables:forms', 'values are not expanded again, so nothing goes in circles'), async () => {
  const fleet = await withDotEnv('A="${B}"\nB=\'${A}\'\nC=`$${A}`\n', '${A}|${B}|${C}|${D:-${B}}');
  expect(ready(fleet, 's').transport).toMatchObject({ env: { V: '${B}|${A}|$${A}|${A}' } });
});

test(verifies('variables:forms', 'a name inside its own default comes to an end'), async () => {
  const inCircles = await withDotEnv('', '${A:-${B:-${A}}}');
  expect(onlyProblem(inCircles)).toMatchObject({ severity: 'error', server: 's' });
  expect(onlyProblem(inCircles).message).toContain('needs the variable A');
  expect(ready(await withDotEnv('B=b', '${A:-${B:-${A}}}'), 's').transport).toMatchObject({ env: { V: 'b' } });
});

test('it serves every format', async () => {
  const fleet = await load({
    '.env': 'TOKEN=token-of-all\n',
    '.squad/mcp-config.json': '{"servers":{"a":{"command":"x","args":["${TOKEN}"]}}}',
    '.mcp/servers/b.yaml': 'command: x\nargs: ["${TOKEN}"]\n',
    '.mcp.json': '{"mcpServers":{"c":{"command":"x","args":["${TOKEN}"]}}}',
    'enabled-tools.json': '{"mcp_servers":{"d":{"command":["x","${TOKEN}"]}}}',
    'product.json': '{"mcp":{"servers":[{"name":"e","command":"x","args":["${TOKEN}"]}]}}',
  });
  expect(fleet.problems).toEqual([]);
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    expect(ready(fleet, name).transport).toMatchObject({ args: ['token-of-all'] });
  }
});

test.each([
  ['an open quote', 'A=1\nB="half-a-secret\nC=3\n', 2, 'of B'],
  ['not UTF-8', Buffer.from([0x41, 0x3d, 0xff]), undefined, 'UTF-8'],
  ['over 5 MB', `# ${'x'.repeat(5 * 1024 * 1024)}`, undefined, 'over 5 MB'],
])(verifies('config:bad-files', 'nothing is taken from one that is broken: %s'), async (_what, dotEnv, line, said) => {
  const fleet = await withDotEnv(dotEnv, '${A:-none}');
  const problem = onlyProblem(fleet);
  expect(problem).toMatchObject({ severity: 'error', file: '.env', ...(line === undefined ? {} : { line }) });
  expect(problem.message).toContain(said);
  expect(problem.message).not.toContain('half-a-secret');
  expect(problem.fix).toBeDefined();
  expect(ready(fleet, 's').transport).toMatchObject({ env: { V: 'none' } });
});

test('lines of other dialects are one remark', async () => {
  const fleet = await withDotEnv('A=1\nsource other\nif true; then\n', '${A}');
  expect(onlyProblem(fleet)).toMatchObject({ severity: 'warning', file: '.env', line: 2 });
  expect(ready(fleet, 's').transport).toMatchObject({ env: { V: '1' } });
});

test('a directory in its place is a mistake, unless it is a Python environment', async () => {
  const workspace = await createWorkspace({ 'quartermaster.yaml': own('x') });
  await mkdir(join(workspace, '.env'));
  expect(onlyProblem(await loadFleet({ env: {} }, { workspace }))).toMatchObject({ severity: 'error', file: '.env' });
  await writeFile(join(workspace, '.env', 'pyvenv.cfg'), '');
  expect((await loadFleet({ env: {} }, { workspace })).problems).toEqual([]);
});

test('a dead link is told', async () => {
  const workspace = await createWorkspace({ 'quartermaster.yaml': own('x') });
  await symlink('nowhere', join(workspace, '.env'));
  expect(onlyProblem(await loadFleet({ env: {} }, { workspace })).message).toContain('link to a file');
});

test(verifies('variables:missing', 'a missing variable says that .env is a place for it'), async () => {
  const fleet = await withDotEnv('B=1', '${A}');
  expect(invalid(fleet, 's').problems[0]?.fix).toContain('Set A in .env');
});
