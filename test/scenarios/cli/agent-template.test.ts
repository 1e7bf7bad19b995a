import { execFile } from 'node:child_process';
import { cp, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { loadConfiguration } from '../../../src/config/index.ts';
import { verifies } from '../../support/verifies.ts';
import { makeWorkspace } from '../qm.fixture.ts';
import { runHere } from '../run-here.fixture.ts';

const root = resolve(import.meta.dirname, '..', '..', '..');

/** The command from docs/configuration.md. */
async function shownCommand(): Promise<string> {
  const page = await readFile(join(root, 'docs', 'configuration.md'), 'utf8');
  const command = /^cp -r .*_template .*$/m.exec(page)?.[0];
  if (command === undefined) throw new Error('the page shows no way to copy the template');
  return command;
}

test(verifies('config:agent-files', 'a copy of the template is an agent with servers and rules'), async () => {
  const base = await makeWorkspace();
  const workspace = join(base, 'examples', 'team');
  for (const name of ['.mcp.json', 'quartermaster.yaml', 'catalog']) {
    await cp(join(root, 'examples', 'team', name), join(workspace, name), { recursive: true });
  }
  const before = await loadConfiguration({ env: {} }, { workspace });
  expect(before.problems).toEqual([]);
  expect([...before.agents.keys()]).toEqual(['lead', 'tester', 'scribe']);

  await promisify(execFile)('sh', ['-c', await shownCommand()], { cwd: base });
  const configuration = await loadConfiguration({ env: {} }, { workspace });
  expect(configuration.problems).toEqual([]);
  expect(configuration.agents.get('reviewer')).toMatchObject({
    servers: ['files', 'memory'],
    policy: { rules: { length: 4 } },
  });
  for (const [tool, code, said] of [
    ['files.read_text_file', 0, 'is allowed'],
    ['files.write_file', 5, 'catalog/agents/reviewer/agent.yaml:'],
    ['files.move_file', 5, 'is denied'],
    ['everything.echo', 5, 'is denied'],
  ] as const) {
    const asked = await runHere(['explain', tool, '--agent', 'reviewer', '--workspace', workspace], { cwd: base });
    expect([tool, asked.code]).toEqual([tool, code]);
    expect(asked.stdout).toContain(said);
  }
});
