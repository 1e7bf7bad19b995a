import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { createSystemClock } from '../../../src/base/index.ts';
import { readCalls, verifyLedger } from '../../../src/ledger/index.ts';
import { fixturePath } from '../../support/fixture-servers.ts';
import { openSession, servedWorkspace } from '../../support/served-hub.ts';
import { layoutOf, ledgerOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';

const fullDisk = pathToFileURL(join(import.meta.dirname, '..', '..', 'support', 'full-disk.mjs')).href;

test(verifies(
  'journal:disk-full',
  'a full disk refuses calls clearly and nothing runs; space brings the hub back by itself',
), async () => {
  const workspace = await servedWorkspace({
    servers: {
      echo: {
        command: process.execPath,
        args: [fixturePath('echo-stdio.mjs')],
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the configuration
        env: { CALL_LOG: '${WORKSPACE_ROOT}/seen.jsonl' },
      },
    },
  });
  const { token } = (await workspace.qm('token', 'issue', '--agent', 'tester', '--run', 'full')) as { token: string };
  const sign = join(workspace.folder, 'the-disk-is-full');
  const hub = await workspace.serve({ env: { NODE_OPTIONS: `--import=${fullDisk}`, FULL_DISK_SIGN: sign } });
  const client = await openSession(hub.url, token);
  const call = (message: string) => client.call('echo', { message });
  const ready = async () => (await fetch(new URL('/readyz', hub.url))).status;
  // The server is new to this hub: at first nobody knows its tools.
  await eventually(async () => (await call('before'))?.result, 'the first call to be answered');
  expect(await ready()).toBe(200);

  await writeFile(sign, '');
  const refused = await call('x'.repeat(8000));
  expect(refused?.error).toMatchObject({ data: { code: 'LEDGER_UNAVAILABLE', retryable: true } });
  expect(refused?.error?.message).toMatch(/not sent/);
  expect((await call('during'))?.error?.data?.code).toBe('LEDGER_UNAVAILABLE');
  expect(await ready()).toBe(503);

  await rm(sign);
  const back = await eventually(async () => {
    const answer = await call('after');
    return answer?.result === undefined ? undefined : answer;
  }, 'the hub to recover');
  expect(back.result?.content?.[0]?.text).toBe('after');
  expect(await ready()).toBe(200);
  await client.close();
  expect(await hub.kill('SIGTERM')).toBe(0);
  const left = await readdir(join(layoutOf(workspace.folder).folder, 'journal'));
  expect(left.filter((file) => !file.endsWith('.sealed'))).toEqual([]);
  expect(await verifyLedger({ clock: createSystemClock() }, ledgerOf(workspace.folder))).toMatchObject({ ok: true });
  const lines = await readCalls(ledgerOf(workspace.folder), { run: 'full', limit: 10_000 });
  const ran = lines.filter((line) => line.outcome === 'ok').map((line) => (line.args as { message: string }).message);
  expect(ran).toEqual(['before', 'after']);
  expect((await readFile(join(workspace.folder, 'seen.jsonl'), 'utf8')).trimEnd().split('\n')).toHaveLength(2);
}, 180_000);
