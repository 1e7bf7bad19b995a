import { expect, test } from 'vitest';
import type { MatrixClient } from '../../support/matrix-clients.ts';
import { eventually } from '../../support/within.ts';
import { type Matrix, readmes } from './matrix.fixture.ts';

/** What servers announce: lists that have changed, and resources that are new for those who want to know. */
export function testChanges(matrix: () => Matrix): void {
  test('a longer list is announced, and what is new works', async () => {
    const { ann, bob, everywhere } = matrix();
    await Promise.all([ann.watchLists(), bob.watchLists()]);
    await everywhere(async ({ client, server, nonce }) => {
      for (const [kind, isThere] of Object.entries(news)) {
        const name = nonce.replaceAll('-', '_');
        await client.say(`${server}_grow`, { nonce, kind, name });
        await eventually(() => isThere(client, server, name), `${client.name} to find the new ${kind} of ${server}`);
        await eventually(() => client.records.lists.includes(`${kind}s`) || undefined, `news of ${kind}s`);
      }
    });
  });

  test('a resource that is new is announced to those who watch it', async () => {
    const { ann, bob } = matrix();
    const { north } = await readmes(ann);
    const { south } = await readmes(bob);
    const page = (owner: string, server: string): string => `memo://${server}/${owner}/1`;
    const wanted = {
      north: { ann: [north, page('ann', 'north')], bob: [page('bob', 'north')] },
      south: { ann: [page('ann', 'south')], bob: [south, page('bob', 'south')] },
    };
    for (const { ann: anns, bob: bobs } of [wanted.north, wanted.south]) {
      for (const uri of anns) await ann.watch(uri);
      for (const uri of bobs) await bob.watch(uri);
    }
    const heard = { ann: new Set<string>(), bob: new Set<string>() };
    for (const server of ['north', 'south'] as const) {
      const touched = ['shared://readme', page('nobody', server), page('ann', server), page('bob', server)];
      // Where each client has servers of its own, each has to touch them.
      for (const client of [ann, bob]) {
        for (const uri of touched) await client.say(`${server}_touch`, { nonce: client.name, uri });
      }
      for (const [client, name] of [
        [ann, 'ann'],
        [bob, 'bob'],
      ] as const) {
        for (const uri of wanted[server][name]) {
          await eventually(() => client.records.updates.includes(uri) || undefined, `${name} to hear of ${uri}`);
          heard[name].add(uri);
        }
        expect(new Set(client.records.updates), `${name} at ${server}`).toEqual(heard[name]);
      }
    }
  });

  test('who watches no more hears no more', async () => {
    const { ann, bob } = matrix();
    for (const client of [ann, bob]) {
      const gone = `memo://north/${client.name}-gone/1`;
      const kept = `memo://north/${client.name}-kept/1`;
      await client.watch(gone);
      await client.watch(kept);
      await client.unsubscribe(gone);
      for (const uri of [gone, kept]) await client.say('north_touch', { nonce: client.name, uri });
      await eventually(() => client.records.updates.includes(kept) || undefined, `${kept} to be announced`);
      expect(client.records.updates).not.toContain(gone);
    }
  });
}

type IsThere = (client: MatrixClient, server: string, name: string) => Promise<true | undefined>;

const news: Readonly<Record<string, IsThere>> = {
  async tool(client, server, name) {
    const { tools } = await client.client.listTools();
    if (!tools.some((tool) => tool.name === `${server}_${name}`)) return undefined;
    expect(await client.say(`${server}_${name}`, {})).toBe(`${server}:${name}`);
    return true;
  },
  async prompt(client, server, name) {
    const { prompts } = await client.client.listPrompts();
    if (!prompts.some((prompt) => prompt.name === `${server}_${name}`)) return undefined;
    const { messages } = await client.client.getPrompt({ name: `${server}_${name}` });
    expect(messages).toMatchObject([{ content: { text: `${server}:${name}` } }]);
    return true;
  },
  async resource(client, server, name) {
    const uri = `grown://${server}/${name}`;
    const { resources } = await client.client.listResources();
    if (!resources.some((resource) => resource.uri === uri)) return undefined;
    const { contents } = await client.client.readResource({ uri });
    expect(contents).toMatchObject([{ text: `${server}:${name}` }]);
    return true;
  },
};
