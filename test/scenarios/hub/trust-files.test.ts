import { chmod, mkdir, readFile, symlink, unlink } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { fixturePath } from '../../support/fixture-servers.ts';
import { openStage, type Stage } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { approve, put, stored } from './trust.fixture.ts';

/** An echo server; another text is another program to whoever reviews it. */
const script = (mark = 'approved'): string =>
  `#!${process.execPath}\nimport(${JSON.stringify(fixturePath('echo-stdio.mjs'))});\n// ${mark}\n`;

async function startApproved(server: object, files: Readonly<Record<string, string>>): Promise<Stage> {
  const stage = await openStage();
  for (const [file, text] of Object.entries(files)) await put(stage, file, text);
  await stage.configure({ servers: { own: server } });
  return stage;
}

/** Whether the server runs in a new hub. */
async function runs(stage: Stage): Promise<boolean> {
  await stage.open({ ...stored, watch: false });
  await stage.names();
  const { kind } = await stage.call('own_echo', { text: 'x' });
  const isRunning = kind !== 'failed';
  if (!isRunning) expect(stage.status('own').error).toContain('changed after approval');
  await stage.stop();
  return isRunning;
}

test(verifies('trust:files', 'a link that was replaced is not followed'), async () => {
  const stage = await startApproved(
    { command: './node_modules/.bin/pkg', args: [] },
    { 'node_modules/pkg/cli.cjs': script(), 'node_modules/evil/cli.cjs': script('evil') },
  );
  const link = stage.path('node_modules/.bin/pkg');
  await mkdir(stage.path('node_modules/.bin'));
  for (const name of ['pkg', 'evil']) await chmod(stage.path(`node_modules/${name}/cli.cjs`), 0o755);
  await symlink('../pkg/cli.cjs', link);
  await approve(stage.workspace);
  expect(await runs(stage)).toBe(true);
  await unlink(link);
  await symlink('../evil/cli.cjs', link);
  expect(await runs(stage)).toBe(false);
  await unlink(link);
  await put(stage, 'node_modules/.bin/pkg', await readFile(stage.path('node_modules/evil/cli.cjs'), 'utf8'));
  await chmod(link, 0o755);
  expect(await runs(stage)).toBe(false);
});

test.each([
  ['a script that was not built yet', ['build/server.cjs'], 'build/server.cjs', undefined],
  ['a script that node resolves', ['./server'], 'server.js', script()],
  ['a script that comes before the resolved one', ['./server'], 'server.js', undefined],
  ['data that is loaded as code', ['-r', './run.log', './server/index.js'], 'run.log', '// approved'],
])(verifies('trust:files', '%s is not run when it was planted or changed after approval'), async (...row) => {
  const [, args, file, before] = row;
  const stage = await startApproved(
    { command: process.execPath, args },
    { 'server/index.js': script(), ...(before === undefined ? {} : { [file]: before }) },
  );
  await approve(stage.workspace);
  if (file !== 'build/server.cjs') expect(await runs(stage)).toBe(true);
  await put(stage, file, script('planted'));
  expect(await runs(stage)).toBe(false);
  await approve(stage.workspace);
  expect(await runs(stage)).toBe(true);
});
