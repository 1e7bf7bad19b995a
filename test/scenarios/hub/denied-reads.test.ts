import { describe, expect, test } from 'vitest';
import { summarizeCalls } from '../../../src/ledger/index.ts';
import { fixturePath } from '../../support/fixture-servers.ts';
import { gatewayForTest } from '../../support/gateway.ts';
import { legacyClient, modernClient } from '../../support/mcp-clients.ts';
import type { Message } from '../../support/mcp-http.ts';
import { ledgerOf } from '../../support/state-home.ts';
import { verifies } from '../../support/verifies.ts';

/** What a rule denies is not there, whatever one tries to do with it, in either era and with servers of either era. */
const eras = ['legacy', 'modern'] as const;

interface Client {
  ask(method: string, params: object, name?: string): Promise<Message>;
  /** Watches resources; gives back which of them are granted. */
  watch(uris: readonly string[]): Promise<string[]>;
}

async function connect(era: (typeof eras)[number], url: string, token: string): Promise<Client> {
  if (era === 'legacy') {
    const client = await legacyClient(url, token);
    const ask: Client['ask'] = async (method, params) => (await client.request(method, params)).message;
    return {
      ask,
      async watch(uris) {
        const granted: string[] = [];
        for (const uri of uris) if ((await ask('resources/subscribe', { uri })).error === undefined) granted.push(uri);
        return granted;
      },
    };
  }
  const client = modernClient(url, token);
  return {
    ask: async (method, params, name) =>
      (await client.request(method, params, name === undefined ? {} : { headers: { 'mcp-name': name } })).message,
    async watch(uris) {
      const stream = await client.stream('subscriptions/listen', { notifications: { resourceSubscriptions: uris } });
      const { params } = await stream.next();
      stream.close();
      const { notifications } = params as { notifications: { resourceSubscriptions?: string[] } }; // the acknowledgement
      return notifications.resourceSubscriptions ?? [];
    },
  };
}

async function open(clientEra: (typeof eras)[number], serverEra: (typeof eras)[number]) {
  const args = [fixturePath('matrix.mjs'), '--era', serverEra, '--stdio', '--label', 'north'];
  const gateway = await gatewayForTest({
    servers: { north: { command: process.execPath, args } },
    approvals: { wait: '0s' },
    agents: { ann: {}, bob: { policies: { tools: rules } } },
  });
  const [ann, bob] = await Promise.all(
    ['ann', 'bob'].map(async (agent) => connect(clientEra, gateway.url, await gateway.token(agent))),
  );
  return { gateway, ann: ann as Client, bob: bob as Client }; // two names, two clients
}

const note = 'memo://north/note';
const secretPage = 'memo://north/owls/2';
const deniedNote = {
  server: 'north',
  outcome: 'denied',
  status: 'error',
  decision: 'deny',
  rule: 'north.resource:memo://north/note',
};
const rules = {
  'north.resource:memo://north/note': 'deny',
  'north.resource:memo://north/owls/*': 'deny',
  'north.prompt:greet': 'deny',
  'north.resource:shared://*': 'require-approval',
};

describe.each(eras.flatMap((client) => eras.map((server) => [client, server] as const)))(
  'a %s client of a %s server',
  (clientEra, serverEra) => {
    test(verifies('view:resources-hidden', 'cannot list, read, watch, get or complete what is denied'), async () => {
      const { ann, bob, gateway } = await open(clientEra, serverEra);
      const urisOf = async (client: Client): Promise<string[]> => {
        const { result } = await client.ask('resources/list', {});
        const { resources } = result as { resources: { uri: string }[] }; // the list
        return resources.map(({ uri }) => uri);
      };
      expect(await urisOf(ann)).toContain(note);
      expect(await urisOf(bob)).not.toContain(note);

      const read = (client: Client, uri: string): Promise<Message> => client.ask('resources/read', { uri }, uri);
      for (const uri of [note, secretPage, 'memo://north/owls/..%2Fowls/2']) {
        const code = clientEra === 'legacy' ? -32002 : -32602;
        expect((await read(bob, uri)).error, uri).toMatchObject({ code, data: { uri } });
      }
      // The server itself is asked for this one, and does not have it.
      const [denied, unknown] = [await read(bob, note), await read(bob, 'memo://north/nothing')];
      expect(unknown.error).toEqual(JSON.parse(JSON.stringify(denied.error).replaceAll(note, 'memo://north/nothing')));
      expect((await read(ann, note)).result).toBeDefined();
      expect((await read(bob, 'shared://readme')).error).toMatchObject({
        data: { code: 'APPROVAL_REQUIRED' },
      });

      expect(await bob.watch([note, secretPage, 'memo://north/bytes'])).toEqual(['memo://north/bytes']);
      expect(await ann.watch([note])).toEqual([note]);

      const greet = { ref: { type: 'ref/prompt', name: 'north_greet' }, argument: { name: 'who', value: 'x' } };
      expect((await bob.ask('prompts/get', { name: 'north_greet' }, 'north_greet')).error).toMatchObject({
        code: -32602,
      });
      expect((await bob.ask('completion/complete', greet)).error).toMatchObject({ code: -32602 });
      expect((await ann.ask('completion/complete', greet)).error).toBeUndefined();

      const page = {
        ref: { type: 'ref/resource', uri: 'memo://north/{topic}/{page}' },
        argument: { name: 'page', value: '' },
        context: { arguments: { topic: 'owls' } },
      };
      const pagesOf = async (client: Client): Promise<unknown> => {
        const { result } = await client.ask('completion/complete', page);
        const { completion } = result as { completion: { values: string[] } }; // of that template
        return completion.values;
      };
      expect(await pagesOf(ann)).not.toEqual([]);
      expect(await pagesOf(bob)).toEqual([]);

      const lines = (await gateway.calls(16)).filter(({ agent }) => agent === 'bob');
      const ofNote = lines.filter(({ tool }) => tool === `resource:${note}`);
      expect(ofNote).toMatchObject([
        { method: 'resources/read', ...deniedNote },
        { method: 'resources/read', ...deniedNote },
        { method: 'resources/subscribe', ...deniedNote },
      ]);
      expect(lines.filter(({ method }) => method === 'completion/complete').map(({ outcome }) => outcome)).toEqual([
        'denied',
        'ok',
      ]);
      const statistics = await summarizeCalls(ledgerOf(gateway.workspace));
      expect(statistics.errors_by_server.north).toBe(lines.filter(({ status }) => status === 'error').length);
    });
  },
);
