import { afterEach, expect, test, vi } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { echo, openLibraryHub } from './library-stage.fixture.ts';

const config = { servers: { files: echo, mail: echo }, agents: { tester: { servers: ['files'] } } };

afterEach(() => {
  vi.unstubAllEnvs();
});

async function openUnapproved(): ReturnType<typeof openLibraryHub> {
  vi.stubEnv('XDG_CONFIG_HOME', '/nonexistent');
  return openLibraryHub(config);
}

const waiting = {
  code: 'NOT_TRUSTED',
  message: 'Server "files" is not trusted yet.',
  hint: 'Run `qm trust files` in the workspace to approve it.',
};

test(
  verifies('library:not-trusted', 'calls name the server that waits, and the command that approves it'),
  async () => {
    const tester = (await openUnapproved()).agent('tester');
    const ref = { type: 'mcp', server: 'files', tool: 'echo' } as const;
    await expect(tester.call('files.echo')).rejects.toMatchObject(waiting);
    await expect(tester.call('files_echo')).rejects.toMatchObject(waiting);
    await expect(tester.call(ref)).rejects.toMatchObject(waiting);
    await expect(tester.tools([ref])).rejects.toMatchObject(waiting);
    await expect(tester.getPrompt('files.greet')).rejects.toMatchObject(waiting);
    await expect(tester.readResource('memo://note')).rejects.toMatchObject({
      code: 'RESOURCE_UNKNOWN',
      hint: `${waiting.message} ${waiting.hint}`,
    });
  },
);

test(verifies('library:not-trusted', 'lists say so too, and nothing is said of servers of other agents'), async () => {
  const hub = await openUnapproved();
  const tester = hub.agent('tester');
  await expect(tester.tools()).rejects.toMatchObject(waiting);
  await expect(tester.prompts()).rejects.toMatchObject(waiting);
  await expect(tester.call('mail.echo')).rejects.toMatchObject({ code: 'TOOL_UNKNOWN' });
  expect(await hub.agent('stranger').tools()).toEqual([]);
});

test("with trust: 'all' the same folder needs no approval", async () => {
  vi.stubEnv('XDG_CONFIG_HOME', '/nonexistent');
  const hub = await openLibraryHub(config, { trust: 'all' });
  expect((await hub.agent('tester').tools()).length).toBeGreaterThan(0);
});
