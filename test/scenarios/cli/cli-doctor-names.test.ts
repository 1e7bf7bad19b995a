import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { doctorSchema } from '../../../src/faces/cli/json-shapes.ts';
import { stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { makeWorkspace, type QmResult } from '../qm.fixture.ts';
import { runHere } from '../run-here.fixture.ts';

function doctorHere(workspace: string, args: readonly string[] = []): Promise<QmResult> {
  const options = { cwd: tmpdir(), env: { PATH: process.env.PATH ?? '', HOME: tmpdir() } };
  return runHere(['doctor', '--workspace', workspace, ...args], options);
}

test(verifies('names:stable', 'doctor says when a server put before another takes its tool names'), async () => {
  const last = { a_b: stdioServer('named-tools.mjs', ['c']) };
  const inserted = { a: stdioServer('named-tools.mjs', ['b_c']) };
  const alone = await makeWorkspace({ servers: last });
  expect(doctorSchema.parse(JSON.parse((await doctorHere(alone, ['--json'])).stdout)).problems).toEqual([]);
  await writeFile(join(alone, 'quartermaster.yaml'), JSON.stringify({ servers: { ...inserted, ...last } }));
  // The server that is renamed need not be asked again: its tools are known.
  const { stdout, code } = await doctorHere(alone, ['--json', 'a']);
  expect(doctorSchema.parse(JSON.parse(stdout)).problems).toMatchObject([
    {
      severity: 'warning',
      server: 'a_b',
      message: expect.stringMatching(
        /^Agents see a_b\.c as "a_b_c_[0-9a-f]{8}", because a\.b_c has the name "a_b_c"\.$/,
      ),
    },
  ]);
  expect(code).toBe(0);
  expect((await doctorHere(alone)).stdout.replace(/\s+/g, ' ')).toContain('because a.b_c has the name "a_b_c"');
});
