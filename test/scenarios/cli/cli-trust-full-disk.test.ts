import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { lsSchema } from '../../../src/faces/cli/json-shapes.ts';
import { stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { makeWorkspace, type QmResult, runQm, serveQm } from '../qm.fixture.ts';

const fullDisk = pathToFileURL(join(import.meta.dirname, '..', '..', 'support', 'full-disk.mjs')).href;
/** A person without `trust.paths`. */
const asks = { XDG_CONFIG_HOME: '/nonexistent' };
const named = stdioServer('named-tools.mjs', ['look']);

async function stage() {
  const workspace = await makeWorkspace({ servers: { one: named, two: named } });
  const qm = (args: readonly string[], more: Record<string, string> = {}): Promise<QmResult> =>
    runQm([...args, '--workspace', workspace], { env: { ...asks, ...more }, input: 'a value of the secret' });
  const sign = join(await makeWorkspace(), 'full');
  await writeFile(sign, '');
  const onFullDisk = (...args: string[]): Promise<QmResult> =>
    qm(args, { NODE_OPTIONS: `--import=${fullDisk}`, FULL_DISK_SIGN: sign });
  expect((await qm(['trust', '--all'])).code).toBe(0);
  return { workspace, qm, onFullDisk };
}

test(verifies('trust:full-disk', 'the running hub stops a server although its approval stays on disk'), async () => {
  const { workspace, qm, onFullDisk } = await stage();
  const hub = await serveQm(workspace, { env: asks });
  const states = async (): Promise<unknown> => {
    const { stdout } = await qm(['ls', '--json']);
    return lsSchema.parse(JSON.parse(stdout)).servers.map(({ name, state }) => [name, state === 'untrusted']);
  };
  const revoked = await onFullDisk('trust', '--revoke', 'one');
  expect(revoked.code).not.toBe(0);
  expect(revoked.stderr).toContain('stopped "one", but only until it ends.');
  expect(revoked.stderr).toContain('(ENOSPC)');
  expect(revoked.stderr).toContain('`qm stop`');
  expect(await states()).toEqual([
    ['one', true],
    ['two', false],
  ]);
  // Nothing but an approval brings it back.
  expect((await qm(['reload'])).code).toBe(0);
  expect(await states()).toEqual([
    ['one', true],
    ['two', false],
  ]);
  expect((await qm(['trust', 'one'])).code).toBe(0);
  expect(await states()).toEqual([
    ['one', false],
    ['two', false],
  ]);
  expect((await onFullDisk('trust', '--revoke')).stderr).toContain('stopped all servers');
  expect(await states()).toEqual([
    ['one', true],
    ['two', true],
  ]);
  hub.signal('SIGTERM');
  expect((await hub.ended()).code).toBe(0);
}, 120_000);

test(verifies('trust:full-disk', 'without a hub nothing is taken back, and the error says what to do'), async () => {
  const { onFullDisk } = await stage();
  const revoked = await onFullDisk('trust', '--revoke', 'one');
  expect(revoked.code).not.toBe(0);
  expect(revoked.stderr).toContain('Nothing was taken back.');
  expect(revoked.stderr).toContain('before a hub starts');
  const secret = await onFullDisk('secret', 'set', 'TOKEN');
  expect(secret).toMatchObject({ stdout: '', stderr: expect.stringContaining('(ENOSPC)') });
  expect(secret.stderr).toContain('`qm stop` and commands that only read still work');
});
