import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { createSilentLogger } from '../../base/index.ts';
import { createRootsFilter } from './filter-roots.ts';

/** A workspace in a home folder with keys and the hub's state, and a link to it. */
async function makeScene() {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'qm-roots-')));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const [state, workspace, ssh] = [join(home, 'state'), join(home, 'work/team'), join(home, '.ssh')];
  for (const folder of [state, join(workspace, 'docs/deep'), join(workspace, 'a b'), ssh, join(home, 'data')]) {
    await mkdir(folder, { recursive: true });
  }
  await writeFile(join(workspace, 'file.txt'), '');
  await symlink(state, join(workspace, 'state-link'));
  await symlink(join(home, 'data'), join(workspace, 'data-link'));
  await symlink('docs', join(workspace, 'docs-link'));
  await symlink(workspace, join(home, 'to-workspace'));
  const events: [string, unknown][] = [];
  const logger = { ...createSilentLogger(), warn: (event: string, fields?: object) => events.push([event, fields]) };
  const filter = createRootsFilter({ logger }, () => ({
    workspace: join(home, 'to-workspace'),
    places: [state, ssh],
    allowPaths: ['~/data'],
    home,
  }));
  const uri = (path: string): string => pathToFileURL(join(home, path)).href;
  const passed = async (given: string): Promise<boolean> => (await filter('files', [{ uri: given }])).length === 1;
  return { home, filter, events, uri, passed };
}

test(verifies('roots:configured', 'roots in the workspace and in allowPaths pass, also through links'), async () => {
  const { uri, passed } = await makeScene();
  for (const path of ['work/team', 'work/team/', 'work/team/docs/deep', 'work/team/a b', 'work/team/file.txt']) {
    expect(await passed(uri(path)), path).toBe(true);
  }
  for (const path of ['work/team/docs-link', 'to-workspace/docs', 'data', 'work/team/data-link']) {
    expect(await passed(uri(path)), path).toBe(true);
  }
});

test(verifies('roots:configured', 'no other root passes, and none that leads to keys'), async () => {
  const { home, uri, passed } = await makeScene();
  for (const path of ['', 'work', 'state', 'state/x', '.ssh', 'work/team/state-link', 'work/team/none', 'work/team2']) {
    expect(await passed(uri(path)), path).toBe(false);
  }
  const team = `${home}/work/team`;
  for (const text of [
    '/',
    'file:///',
    team,
    `http://localhost${team}`,
    `file://elsewhere${team}`,
    `file://${team}/../../state`,
    `file://${team}/%2e%2e/%2e%2e/state`,
    `file://${team}%2f..%2f..%2fstate`,
    `file://${team}/docs%00`,
    `file://${team}#/../../state`,
    `file:${team}#/../../../state`,
    `file://${team}?/../../state`,
    `file://${team}#`,
    `ui://${team}`,
    `file://${team}/${'x/'.repeat(4096)}`,
  ]) {
    expect(await passed(text), text.slice(0, 80)).toBe(false);
  }
});

test(verifies('roots:configured', 'a server gets the URI of the real path, not the text of the client'), async () => {
  const { home, filter, uri } = await makeScene();
  const sent = async (given: string): Promise<unknown> => filter('files', [{ uri: given, name: 'mine' }]);
  for (const [given, path] of [
    [`file:${home}/work/team`, 'work/team'],
    [`file://localhost${home}/work/team`, 'work/team'],
    [`FILE://${home}/work/./x/../team/`, 'work/team'],
    [`file://${home}\\work\\team`, 'work/team'],
    [`file://${home}/work/team/%64ocs`, 'work/team/docs'],
    [`\tfile://${home}/wo\nrk/team`, 'work/team'],
    [uri('work/team/docs-link'), 'work/team/docs'],
    [uri('to-workspace/a b'), 'work/team/a b'],
  ] as const) {
    expect(await sent(given), given).toEqual([{ uri: uri(path), name: 'mine' }]);
  }
});

test(
  verifies('roots:configured', 'a root does not pass if a server that decodes otherwise reads keys in it'),
  async () => {
    const { home, uri, passed } = await makeScene();
    expect(await passed(uri('work/team/a b'))).toBe(true);
    await symlink(join(home, '.ssh'), join(home, 'work/team/a%20b'));
    expect(await passed(uri('work/team/a b'))).toBe(false);
    await mkdir(join(home, 'work/team/%2e%2e%2f%2e%2e%2fstate'));
    expect(await passed(uri('work/team/%2e%2e%2f%2e%2e%2fstate'))).toBe(false);
  },
);

test('roots that are none are dropped, with one warning for each server', async () => {
  const { filter, events, uri } = await makeScene();
  const good = { uri: uri('work/team/docs'), name: 'docs' };
  expect(await filter('files', [7, null, 'text', {}, { uri: 7 }, [good], good])).toEqual([good]);
  await filter('files', [1]);
  expect(events).toEqual([['roots.dropped', expect.objectContaining({ server: 'files', dropped: 6 })]]);
  await filter('other', [1]);
  expect(events).toHaveLength(2);
  expect(
    await filter(
      'files',
      Array.from({ length: 1000 }, () => good),
    ),
  ).toHaveLength(100);
});
