import { rm, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { workspaceLayout } from '../../src/storage/index.ts';
import { openStage, type Stage, stdioServer } from '../support/hub.ts';
import { verifies } from '../support/verifies.ts';

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

  test(verifies('names:restart', 'a server that is put before another takes no name from it'), async () => {
    const stage = await openStage();
    expect(await live(stage, holder)).toEqual([shared]);
    // What servers said is only a cache; names do not hang on it.
    await stage.stop();
    await rm(workspaceLayout(stage.workspace).catalog);
    expect(await live(stage, { ...newcomer, ...holder })).toContain(shared);
    expect(await stage.say(shared)).toBe(first[1]);
    expect(await stage.say(await otherName(stage))).toBe(second[1]);
    const both = await stage.names();
    // The third life, with both remembered and in the other order.
    expect(await live(stage, { ...holder, ...newcomer })).toEqual(both);
    expect(await live(stage, { ...newcomer, ...holder })).toEqual(both);
    expect(await stage.say(shared)).toBe(first[1]);
  });

  test(
    verifies('names:stable', 'whoever came second for a name is told as a warning, with the one that has it'),
    async () => {
      const stage = await openStage();
      await live(stage, holder);
      expect(stage.hub.problems()).toEqual([]);
      await live(stage, { ...newcomer, ...holder });
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

  test(verifies('names:restart', 'a server that left has its names when it is back, and only then'), async () => {
    const stage = await openStage();
    await live(stage, holder);
    await live(stage, { ...holder, ...newcomer, bystander: offering('look') });
    const before = await stage.names();
    const given = await otherName(stage);
    expect(await live(stage, { ...newcomer, bystander: offering('look') })).toEqual(
      before.filter((name) => name !== shared),
    );
    expect(await stage.say(given)).toBe(second[1]);
    // Not the other way round either: a name that is free again is nobody's.
    expect(await live(stage, { ...newcomer, ...holder, bystander: offering('look') })).toEqual(before);
    await stage.configure(config({ ...newcomer }));
    await stage.hub.reload();
    expect(await stage.names()).toEqual([given]);
    await stage.configure(config({ ...newcomer, ...holder }));
    await stage.hub.reload();
    expect(await stage.names()).toEqual([given, shared].sort());
  });

  test('a server that is renamed is another server; after a month what it had is free', async () => {
    const stage = await openStage();
    await live(stage, holder);
    const renamed = { [`${first[0]}.new`]: offering(first[1]) };
    const names = await live(stage, renamed);
    expect(names).not.toContain(shared);
    await stage.stop();
    stage.clock.advance(29 * 24 * 3600 * 1000);
    await live(stage, { ...renamed, ...newcomer });
    const given = await otherName(stage);
    await stage.stop();
    stage.clock.advance(2 * 24 * 3600 * 1000);
    // Those who have a name keep it also when a better one is free.
    expect(await live(stage, { ...renamed, ...newcomer })).toEqual([...names, given].sort());
    expect(await live(stage, { ...renamed, ...newcomer, [third[0]]: offering(third[1]) })).toEqual(
      [...names, given, shared].sort(),
    );
  });

  test('a file of names that cannot be read is told once and begun anew', async () => {
    const stage = await openStage();
    await live(stage, holder);
    const names = await live(stage, { ...holder, ...newcomer });
    await stage.stop();
    await writeFile(workspaceLayout(stage.workspace).names, '{"version":1,"na');
    expect(await live(stage, { ...holder, ...newcomer })).toEqual(names);
    expect(stage.log.filter((line) => line.includes('names.unreadable'))).toHaveLength(1);
    expect(await live(stage, { ...newcomer, ...holder })).toEqual(names);
  });
});

test('one way of naming does not disturb the other', async () => {
  const stage = await openStage();
  const servers = { web: offering('read'), files: offering('read') };
  await stage.start({ servers, naming: 'preserved' });
  const preserved = await stage.names();
  await stage.configure({ servers });
  await stage.hub.reload();
  expect(await stage.names()).toEqual(['files_read', 'web_read']);
  await stage.start({ servers: { files: offering('read'), web: offering('read') }, naming: 'preserved' });
  expect(await stage.names()).toEqual(preserved);
});
