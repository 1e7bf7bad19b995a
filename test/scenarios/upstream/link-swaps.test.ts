import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { openStage, type Stage } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually, within } from '../../support/within.ts';

const require = createRequire(import.meta.url);
const program = require.resolve('@modelcontextprotocol/server-filesystem/dist/index.js');
const secret = 'the secret text';

const rules = {
  tools: {
    'files.read_text_file': [{ effect: 'allow', when: { path: { inside: 'docs' } } }, { effect: 'deny' }],
    'files.write_file': [{ effect: 'allow', when: { path: { inside: 'docs' } } }, { effect: 'deny' }],
  },
};

async function openFolders(): Promise<Stage> {
  const stage = await openStage();
  for (const folder of ['docs/slot', 'secrets']) await mkdir(stage.path(folder), { recursive: true });
  await writeFile(stage.path('docs/slot/key.txt'), 'a page');
  await writeFile(stage.path('secrets/key.txt'), secret);
  await symlink(stage.path('secrets'), stage.path('link'));
  return stage;
}

/** Puts a link to the secrets in the place of the folder, or the folder back. */
async function swap(stage: Stage): Promise<void> {
  await rename(stage.path('docs/slot'), stage.path('aside'));
  await rename(stage.path('link'), stage.path('docs/slot'));
  await rename(stage.path('aside'), stage.path('link'));
}

test(verifies('policy:link-swap', 'each call is judged by where its path leads at that moment'), async () => {
  const stage = await openFolders();
  await stage.start({ servers: { files: { command: process.execPath, args: [program, '.'] } }, policies: rules });
  await stage.hub.discover();
  const path = 'docs/slot/key.txt';
  for (let round = 0; round < 50; round++) {
    expect(await stage.say('files_read_text_file', { path })).toBe('a page');
    await swap(stage);
    const tries = await Promise.all([
      stage.call('files_read_text_file', { path }),
      stage.call('files_write_file', { path, content: 'overwritten' }),
      stage.call('files_write_file', { path: `docs/slot/new${round}`, content: 'new' }),
    ]);
    for (const result of tries) expect(result).toMatchObject({ error: { code: 'POLICY_DENIED' } });
    expect(await readFile(stage.path('secrets/key.txt'), 'utf8')).toBe(secret);
    await swap(stage);
  }
});

test(verifies('policy:link-swap', 'a call that waited for its server is judged again before it is sent'), async () => {
  const stage = await openFolders();
  // A file server that starts once there is a file named gate.
  await writeFile(
    stage.path('late.mjs'),
    `import { existsSync } from 'node:fs';
     while (!existsSync('gate')) await new Promise((resolve) => setTimeout(resolve, 20));
     await import(${JSON.stringify(pathToFileURL(program).href)});`,
  );
  await writeFile(stage.path('gate'), '');
  const files = { command: process.execPath, args: ['late.mjs', '.'], paths: 'local' };
  await stage.start({ servers: { files }, policies: rules });
  await stage.hub.discover();
  const path = 'docs/slot/key.txt';
  expect(await stage.say('files_read_text_file', { path })).toBe('a page');
  await rm(stage.path('gate'));
  await stage.stop();
  await stage.open();
  const waiting = stage.call('files_read_text_file', { path });
  await eventually(() => (stage.children().length > 0 ? true : undefined), 'the server to start again');
  await swap(stage);
  await writeFile(stage.path('gate'), '');
  expect(await within(waiting, 'the call to end')).toMatchObject({ error: { code: 'POLICY_DENIED' } });
  expect(JSON.stringify(await stage.ledger())).not.toContain(secret);
});

test(
  verifies('policy:link-swap', 'while a program swaps them, nothing that is refused is read or written'),
  async () => {
    const stage = await openFolders();
    await stage.start({ servers: { files: { command: process.execPath, args: [program, '.'] } }, policies: rules });
    await stage.hub.discover();
    const path = 'docs/slot/key.txt';
    let isOver = false;
    const swapping = (async () => {
      while (!isOver) await swap(stage);
    })();
    const refused = new Set<string>();
    const errors = new Set<string>();
    for (let round = 0; round < 200; round++) {
      const content = `written in round ${round}`;
      const read = await stage.call('files_read_text_file', { path });
      const write = await stage.call('files_write_file', { path, content });
      for (const result of [read, write]) if (result.kind === 'failed') errors.add(result.error.code);
      if (write.kind === 'failed') refused.add(content);
      // An allowed call may still be led astray between decision and use; SECURITY.md says so.
      const found = await readFile(stage.path('secrets/key.txt'), 'utf8').catch(() => '');
      expect(refused).not.toContain(found);
    }
    isOver = true;
    await swapping;
    expect([...errors].filter((code) => code !== 'POLICY_DENIED')).toEqual([]);
  },
);
