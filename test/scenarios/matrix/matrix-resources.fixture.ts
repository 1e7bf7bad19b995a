import type { CompleteRequestParams } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import type { MatrixClient } from '../../support/matrix-clients.ts';
import { type Matrix, readmes, resourcesOf } from './matrix.fixture.ts';

/** Resources, templates, prompts and completion of two servers, one of whose addresses is the same on both. */
export function testResources(matrix: () => Matrix): void {
  test('everybody lists the resources of both servers', async () => {
    for (const client of [matrix().ann, matrix().bob]) {
      const { north, south } = await readmes(client);
      expect(await resourcesOf(client)).toEqual(
        ['memo://north/bytes', 'memo://north/note', 'memo://south/bytes', 'memo://south/note', north, south].toSorted(),
      );
      const { resourceTemplates } = await client.client.listResourceTemplates();
      expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate).toSorted()).toEqual([
        'memo://north/{topic}/{page}',
        'memo://south/{topic}/{page}',
      ]);
    }
  });

  test('every read has its own answer', async () => {
    await matrix().everywhere(async ({ client, server, nonce }) => {
      expect(await read(client, `memo://${server}/note`)).toMatchObject({ text: `${server}:note` });
      const blob = Buffer.from(`${server}:bytes`).toString('base64');
      expect(await read(client, `memo://${server}/bytes`)).toMatchObject({ blob });
      expect(await read(client, `memo://${server}/${nonce}/1`)).toMatchObject({ text: `${server}:${nonce}:1` });
    });
  });

  test('the same address on two servers', async () => {
    await matrix().everywhere(async ({ client, server }) => {
      const uris = await readmes(client);
      expect(await read(client, uris[server])).toMatchObject({ text: `${server}:readme` });
      // With the name of the server in front, every address works.
      expect(await read(client, `${server}+shared://readme`)).toMatchObject({ text: `${server}:readme` });
      expect(await read(client, `${server}+memo://${server}/note`)).toMatchObject({ text: `${server}:note` });
    });
  });

  test('what nobody has is an error', async () => {
    await matrix().everywhere(async ({ client, server }) => {
      const unknown = client.client.readResource({ uri: `memo://${server}/no/such/page` });
      await expect(unknown).rejects.toThrow(/^Unknown resource/);
    });
  });

  test('prompts', async () => {
    await matrix().everywhere(async ({ client, server, nonce, sign }) => {
      const { prompts } = await client.client.listPrompts();
      const names = prompts.map(({ name }) => name).filter((name) => name.startsWith(`${server}_`));
      expect(names).toEqual(expect.arrayContaining([`${server}_greet`, `${server}_plain`]));
      expect(await client.client.getPrompt({ name: `${server}_plain` })).toMatchObject({
        messages: [{ content: { text: `${server}:plain` } }],
      });
      const greet = { name: `${server}_greet`, arguments: { nonce, who: 'Ada' } };
      expect(await client.client.getPrompt(greet)).toMatchObject({
        messages: [{ content: { text: `${sign}:Ada` } }],
      });
    });
  });

  test('completion', async () => {
    await matrix().everywhere(async ({ client, server, nonce }) => {
      const template = { type: 'ref/resource', uri: `memo://${server}/{topic}/{page}` } as const;
      expect(await complete(client, { ref: template, argument: { name: 'topic', value: nonce } })).toEqual([
        `${nonce}-${server}-apples`,
        `${nonce}-${server}-pears`,
      ]);
      const context = { arguments: { topic: server } };
      expect(await complete(client, { ref: template, argument: { name: 'page', value: nonce }, context })).toEqual([
        `${nonce}-${server}-1`,
        `${nonce}-${server}-2`,
      ]);
      const prompt = { type: 'ref/prompt', name: `${server}_greet` } as const;
      expect(await complete(client, { ref: prompt, argument: { name: 'who', value: nonce } })).toEqual([
        `${nonce}-${server}-Ada`,
        `${nonce}-${server}-Grace`,
      ]);
    });
  });
}

async function read({ client }: MatrixClient, uri: string): Promise<unknown> {
  return (await client.readResource({ uri })).contents[0];
}

async function complete({ client }: MatrixClient, params: CompleteRequestParams): Promise<string[]> {
  return (await client.complete(params)).completion.values;
}
