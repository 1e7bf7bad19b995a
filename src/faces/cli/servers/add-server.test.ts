import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { stateEnv } from '../../../../test/support/state-home.ts';
import { createSystemClock, systemRandom } from '../../../base/index.ts';
import { makeFolder } from '../../../workspace-files/index.ts';
import type { CliContext } from '../context.ts';
import { createMask } from '../terminal/mask.ts';
import { addServer } from './add-server.ts';

// All that changing a file takes of a command's surroundings.
const env: CliContext['env'] = stateEnv;
const stdin: CliContext['stdin'] = new PassThrough();
const cli = { env, stdin, clock: createSystemClock(), random: systemRandom, mask: createMask() } as CliContext;
const order = { name: 'a', body: { command: 'node' }, agent: undefined, preset: undefined };

test('what was made beside the entry goes again when the entry cannot be written', async () => {
  const workspace = await mkdtemp(join(tmpdir(), 'qm-beside-'));
  onTestFinished(() => rm(workspace, { recursive: true, force: true }));
  const file = join(workspace, 'quartermaster.yaml');
  const adding = addServer(cli, workspace, order, async () => {
    await writeFile(file, 'servers: {}\n');
    return makeFolder(cli, workspace, 'servers/a', [{ file: 'x', text: '' }]);
  });
  await expect(adding).rejects.toMatchObject({ code: 'STATE_LOCKED' });
  expect(await readdir(workspace)).toEqual(['quartermaster.yaml']);
  expect(await readFile(file, 'utf8')).toBe('servers: {}\n');
});
