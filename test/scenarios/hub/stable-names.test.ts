import { describe, expect, test } from 'vitest';
import { openStage, type Stage, stdioServer } from '../../support/hub.ts';
import { verifies } from '../../support/verifies.ts';

/** A server with these tools, each of which answers with what the server itself calls it. */
function offering(...tools: string[]): object {
  return stdioServer('named-tools.mjs', tools);
}

const namings = ['prefixed', 'preserved'] as const;

/** Two servers that want one name in either way of naming, and what the second to come gets. */
const rivals = {
  prefixed: {
    first: ['a_b', 'c'],
    second: ['a', 'b_c'],
    third: ['a.b', 'c'],
    shared: 'a_b_c',
    other: /^a_b_c_[0-9a-f]{8}$/,
  },
  preserved: {
    first: ['web', 'read'],
    second: ['files', 'read'],
    third: ['third', 'read'],
    shared: 'read',
    other: /^files_read$/,
  },
} as const;

describe.each(namings)('naming: %s', (naming) => {
  const { first, second, third, shared, other } = rivals[naming];
  const holder = { [first[0]]: offering(first[1]) };
  const newcomer = { [second[0]]: offering(second[1]) };
  const config = (servers: Readonly<Record<string, object>>) => ({ naming, servers });

  /** The next life of the hub, in which every server is asked. */
  async function live(stage: Stage, servers: Readonly<Record<string, object>>): Promise<string[]> {
    await stage.start(config(servers));
    await stage.hub.discover();
    return stage.names();
  }

  async function otherName(stage: Stage): Promise<string> {
    const names = await stage.names();
    const found = names.find((name) => other.test(name));
    expect(found, names.join()).toBeDefined();
    return found ?? '';
  }

  test(
    verifies('names:order', 'a contested name belongs to the server that comes first in the configuration'),
    async () => {
      const stage = await openStage();
      expect(await live(stage, holder)).toEqual([shared]);
      // Added at the end it renames nothing.
      expect(await live(stage, { ...holder, ...newcomer })).toContain(shared);
      expect(await stage.say(shared)).toBe(first[1]);
      expect(await stage.say(await otherName(stage))).toBe(second[1]);
      const both = await stage.names();
      expect(await live(stage, { ...holder, ...newcomer, [third[0]]: offering(third[1]) })).toEqual(
        expect.arrayContaining(both),
      );
      // Put before it, it may.
      await live(stage, { ...newcomer, ...holder });
      expect(await stage.say(shared)).toBe(second[1]);
    },
  );

  test(
    verifies('names:order', 'two workspaces with the same files have the same names, whatever came before'),
    async () => {
      const told = async (stage: Stage): Promise<string[]> =>
        Promise.all((await stage.names()).map(async (name) => `${name}: ${await stage.say(name)}`));
      const old = await openStage();
      await live(old, holder);
      await live(old, { ...holder, ...newcomer });
      await live(old, newcomer);
      await live(old, { ...newcomer, ...holder });
      const after = await told(old);
      // A reload gives the same as a new start.
      await old.configure(config({ ...holder, ...newcomer }));
      await old.hub.reload();
      expect(await old.say(shared)).toBe(first[1]);
      await old.stop();
      const fresh = await openStage();
      await live(fresh, { ...newcomer, ...holder });
      expect(await told(fresh)).toEqual(after);
      await fresh.stop();
    },
  );

  test(
    verifies('names:stable', 'whoever comes second for a name is told as a warning, with the one that has it'),
    async () => {
      const stage = await openStage();
      await live(stage, holder);
      expect(stage.hub.problems()).toEqual([]);
      await live(stage, { ...holder, ...newcomer });
      const given = await otherName(stage);
      const [server, tool] = second;
      expect(stage.hub.problems()).toMatchObject([
        {
          severity: 'warning',
          server,
          message: `Agents see ${server}.${tool} as "${given}", because ${first.join('.')} has the name "${shared}".`,
        },
      ]);
    },
  );

  test(verifies('names:order', 'a server that is unavailable keeps its names'), async () => {
    const stage = await openStage();
    await live(stage, { ...holder, ...newcomer });
    const given = await otherName(stage);
    const [name, missing] = [first[0], { command: '/does/not/exist' }];
    await stage.start(config({ [name]: missing, ...newcomer }));
    await stage.hub.discover();
    // It is another server now, of which nothing is known, so it may have the name.
    expect(await stage.call(shared)).toMatchObject({ kind: 'failed', error: { code: 'UPSTREAM_UNAVAILABLE' } });
    expect(await stage.say(given)).toBe(second[1]);
    await stage.start(config({ ...holder, ...newcomer }));
    expect(await stage.say(given)).toBe(second[1]);
  });

  test(
    verifies('names:order', 'a contested name waits for the server that comes first, and no other one answers to it'),
    async () => {
      const stage = await openStage();
      const hung = stdioServer('bad.mjs', ['never-answers']);
      await stage.start(config({ [first[0]]: hung, ...newcomer }));
      await stage.hub.discover([second[0]]);
      const called = await stage.hurry(stage.call(shared));
      expect(called).toMatchObject({ error: { code: 'UPSTREAM_UNAVAILABLE', details: { server: first[0] } } });
      expect(await stage.hurry(stage.names())).not.toContain(shared);
      expect(await stage.say(await otherName(stage))).toBe(second[1]);
      await stage.configure(config({ ...holder, ...newcomer }));
      await stage.hub.reload();
      expect(await stage.say(shared)).toBe(first[1]);
    },
  );
});

test('each way of naming goes by the order of the configuration', async () => {
  const stage = await openStage();
  const servers = { web: offering('read'), files: offering('read') };
  await stage.start({ servers, naming: 'preserved' });
  expect(await stage.names()).toEqual(['files_read', 'read']);
  await stage.configure({ servers });
  await stage.hub.reload();
  expect(await stage.names()).toEqual(['files_read', 'web_read']);
  await stage.start({ servers: { files: offering('read'), web: offering('read') }, naming: 'preserved' });
  expect(await stage.names()).toEqual(['read', 'web_read']);
});
