// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables in configuration are written so.
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { Configuration } from '../../domain/index.ts';
import { loadConfiguration } from '../load-configuration.ts';
import { createWorkspace, invalid, load, onlyProblem, ready } from '../workspace.fixture.ts';

const own = (env: string): string => `servers:\n  s: { command: x, env: { V: ${JSON.stringify(env)} } }\n`;

function withDotEnv(dotEnv: string | Uint8Array, written: string, env = {}): Promise<Configuration> {
  return load({ '.env': dotEnv, 'quartermaster.yaml': own(written) }, env);
}

test(verifies('variables:dotenv', 'it beats the environment, and predefined names beat both'), async () => {
  const dotEnv = 'A=from-the-file\nWORKSPACE_ROOT=elsewhere\nSQUAD_ROOT=elsewhere\nEMPTY=\n';
  const env = { A: 'from-the-environment', B: 'of-the-environment', WORKSPACE_ROOT: 'nowhere', EMPTY: 'not-empty' };
  const configuration = await withDotEnv(dotEnv, '${A} ${B} ${WORKSPACE_ROOT} ${SQUAD_ROOT} [${EMPTY}]', env);
  expect(configuration.problems).toEqual([]);
  expect(ready(configuration, 's').transport).toMatchObject({
    env: { V: `from-the-file of-the-environment ${configuration.workspace} ${configuration.workspace} []` },
  });
  expect(configuration.files).toEqual(['quartermaster.yaml', '.env']);
});

test(verifies('variables:dotenv', 'used values count as secrets, and a program gets no others'), async () => {
  const configuration = await withDotEnv('USED=secret-of-one\nOTHER=secret-of-two\n', '${USED}');
  expect(configuration.secrets).toEqual(['secret-of-one']);
  expect(ready(configuration, 's').transport).toMatchObject({ env: { V: 'secret-of-one' } });
  expect(JSON.stringify([...configuration.servers])).not.toContain('secret-of-two');
});

test(verifies('variables:forms', 'values are not expanded again, so nothing goes in circles'), async () => {
  const configuration = await withDotEnv('A="${B}"\nB=\'${A}\'\nC=`$${A}`\n', '${A}|${B}|${C}|${D:-${B}}');
  expect(ready(configuration, 's').transport).toMatchObject({ env: { V: '${B}|${A}|$${A}|${A}' } });
});

test(verifies('variables:forms', 'a name inside its own default comes to an end'), async () => {
  const inCircles = await withDotEnv('', '${A:-${B:-${A}}}');
  expect(onlyProblem(inCircles)).toMatchObject({ severity: 'error', server: 's' });
  expect(onlyProblem(inCircles).message).toContain('needs the variable A');
  expect(ready(await withDotEnv('B=b', '${A:-${B:-${A}}}'), 's').transport).toMatchObject({ env: { V: 'b' } });
});

test('it serves every format', async () => {
  const configuration = await load({
    '.env': 'TOKEN=token-of-all\n',
    '.squad/mcp-config.json': '{"servers":{"a":{"command":"x","args":["${TOKEN}"]}}}',
    '.mcp/servers/b.yaml': 'command: x\nargs: ["${TOKEN}"]\n',
    '.mcp.json': '{"mcpServers":{"c":{"command":"x","args":["${TOKEN}"]}}}',
    'enabled-tools.json': '{"mcp_servers":{"d":{"command":["x","${TOKEN}"]}}}',
    'product.json': '{"mcp":{"servers":[{"name":"e","command":"x","args":["${TOKEN}"]}]}}',
  });
  expect(configuration.problems).toEqual([]);
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    expect(ready(configuration, name).transport).toMatchObject({ args: ['token-of-all'] });
  }
});

test.each([
  ['an open quote', 'A=1\nB="half-a-secret\nC=3\n', 2, 'of B'],
  ['not UTF-8', Buffer.from([0x41, 0x3d, 0xff]), undefined, 'UTF-8'],
  ['over 5 MB', `# ${'x'.repeat(5 * 1024 * 1024)}`, undefined, 'over 5 MB'],
])(verifies('config:bad-files', 'nothing is taken from one that is broken: %s'), async (_what, dotEnv, line, said) => {
  const configuration = await withDotEnv(dotEnv, '${A:-none}');
  const problem = onlyProblem(configuration);
  expect(problem).toMatchObject({ severity: 'error', file: '.env', ...(line === undefined ? {} : { line }) });
  expect(problem.message).toContain(said);
  expect(problem.message).not.toContain('half-a-secret');
  expect(problem.fix).toBeDefined();
  expect(ready(configuration, 's').transport).toMatchObject({ env: { V: 'none' } });
});

test('lines of other dialects are one remark', async () => {
  const configuration = await withDotEnv('A=1\nsource other\nif true; then\n', '${A}');
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'warning', file: '.env', line: 2 });
  expect(ready(configuration, 's').transport).toMatchObject({ env: { V: '1' } });
});

test('a directory in its place is a mistake, unless it is a Python environment', async () => {
  const workspace = await createWorkspace({ 'quartermaster.yaml': own('x') });
  await mkdir(join(workspace, '.env'));
  expect(onlyProblem(await loadConfiguration({ env: {} }, { workspace }))).toMatchObject({
    severity: 'error',
    file: '.env',
  });
  await writeFile(join(workspace, '.env', 'pyvenv.cfg'), '');
  expect((await loadConfiguration({ env: {} }, { workspace })).problems).toEqual([]);
});

test('a dead link is told', async () => {
  const workspace = await createWorkspace({ 'quartermaster.yaml': own('x') });
  await symlink('nowhere', join(workspace, '.env'));
  expect(onlyProblem(await loadConfiguration({ env: {} }, { workspace })).message).toContain('link to a file');
});

test(verifies('config:bad-files', 'a link that leaves the workspace is not read, and one inside it is'), async () => {
  const [workspace, other] = [
    await createWorkspace({ 'quartermaster.yaml': own('${A:-none}') }),
    await createWorkspace({}),
  ];
  await writeFile(join(other, 'credentials'), 'A=secret-of-another-program\n');
  await symlink(join(other, 'credentials'), join(workspace, '.env'));
  const configuration = await loadConfiguration({ env: {} }, { workspace });
  expect(onlyProblem(configuration)).toMatchObject({ severity: 'error', file: '.env' });
  expect(onlyProblem(configuration).message).toContain('outside the workspace');
  expect(ready(configuration, 's').transport).toMatchObject({ env: { V: 'none' } });
  await rm(join(workspace, '.env'));
  await writeFile(join(workspace, 'dev.env'), 'A=1\n');
  await symlink('dev.env', join(workspace, '.env'));
  expect(ready(await loadConfiguration({ env: {} }, { workspace }), 's').transport).toMatchObject({ env: { V: '1' } });
});

test(verifies('variables:missing', 'a missing variable says that .env is a place for it'), async () => {
  const configuration = await withDotEnv('B=1', '${A}');
  expect(invalid(configuration, 's').problems[0]?.fix).toContain('Set A in .env');
});
