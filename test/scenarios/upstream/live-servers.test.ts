import { expect, test } from 'vitest';
import { tokenIssueSchema } from '../../../src/faces/cli/json-shapes.ts';
import { stdioServer } from '../../support/hub.ts';
import { initializeRequest, legacyClient, modernClient, modernMeta, namesOf } from '../../support/mcp-clients.ts';
import { type Message, messagesOf } from '../../support/mcp-http.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';
import { configure, makeWorkspace, runQm, serveQm, startQm } from '../qm.fixture.ts';

/** A client that lists when it is told to, and at no other time. */
interface Listener {
  /** How often it was told that the tools are others now. */
  heard(): number;
  list(): Promise<string[]>;
}

type Open = (workspace: string) => Promise<Listener>;

const changed = 'notifications/tools/list_changed';
const wanted = { notifications: { toolsListChanged: true } };

const ways: readonly (readonly [string, Open])[] = [
  [
    'qm serve, 2025',
    async (workspace) => {
      const client = await legacyClient(...(await served(workspace)));
      const stream = await client.listen();
      return {
        heard: () => countOf(messagesOf(stream.text())),
        list: async () => namesOf((await client.request('tools/list')).message),
      };
    },
  ],
  [
    'qm serve, 2026',
    async (workspace) => {
      const client = modernClient(...(await served(workspace)));
      const stream = await client.stream('subscriptions/listen', wanted);
      expect((await stream.next()).method).toBe('notifications/subscriptions/acknowledged');
      return {
        heard: () => countOf(messagesOf(stream.text())),
        list: async () => namesOf((await client.request('tools/list')).message),
      };
    },
  ],
  ['qm stdio, 2025', (workspace) => piped(workspace, [initializeRequest(), initialized], {})],
  [
    'qm stdio, 2026',
    (workspace) => {
      const common = { _meta: modernMeta() };
      const listen = { jsonrpc: '2.0', id: 'sub', method: 'subscriptions/listen', params: { ...wanted, ...common } };
      return piped(workspace, [listen], common);
    },
  ],
];

const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };

function countOf(messages: readonly Message[]): number {
  return messages.filter(({ method }) => method === changed).length;
}

async function served(workspace: string): Promise<[url: string, token: string]> {
  const hub = await serveQm(workspace);
  const issued = await runQm(['token', 'issue', '--agent', 'tester', '--json', '--workspace', workspace]);
  return [`${hub.url}/mcp`, tokenIssueSchema.parse(JSON.parse(issued.stdout)).token];
}

async function piped(workspace: string, opening: readonly object[], common: object): Promise<Listener> {
  const qm = startQm(['stdio', '--agent', 'tester', '--workspace', workspace]);
  const send = (message: object): boolean => qm.child.stdin.write(`${JSON.stringify(message)}\n`);
  const messages = (): Message[] => {
    const lines = qm.stdout().split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Message); // the face's own lines
  };
  for (const message of opening) send(message);
  await eventually(() => messages().length > 0 || undefined, 'the first answer');
  let asked = 0;
  return {
    heard: () => countOf(messages()),
    list() {
      const id = `list-${asked++}`;
      send({ jsonrpc: '2.0', id, method: 'tools/list', params: common });
      return eventually(() => {
        const answer = messages().find((message) => message.id === id);
        return answer && namesOf(answer);
      }, 'a list');
    },
  };
}

test.each(ways)(
  verifies('config:live', 'by %s a client that lists whenever it is told to has what the file says'),
  async (_way, open) => {
    const offering = (...tools: string[]): object => stdioServer('named-tools.mjs', tools);
    const stays = offering('look');
    const workspace = await makeWorkspace({ servers: { stays } });
    const client = await open(workspace);
    expect(await client.list()).toEqual(['stays_look']);

    const steps: readonly (readonly [Readonly<Record<string, object>>, readonly string[]])[] = [
      [{ comes: offering('read'), stays }, ['comes_read', 'stays_look']],
      [{ comes: offering('read', 'write'), stays }, ['comes_read', 'comes_write', 'stays_look']],
      [{ comes: { ...offering('read', 'write'), enabled: false }, stays }, ['stays_look']],
      [{ comes: offering('read', 'write'), stays }, ['comes_read', 'comes_write', 'stays_look']],
      [{ stays }, ['stays_look']],
    ];
    for (const [servers, expected] of steps) {
      let heard = client.heard();
      let names: readonly string[] = [];
      await configure(workspace, { servers });
      while (names.join() !== expected.join()) {
        const before = heard;
        const what = `a word after ${names.join() || 'the change'} that leads to ${expected.join()}`;
        heard = await eventually(() => (client.heard() > before ? client.heard() : undefined), what);
        names = await client.list();
      }
    }
  },
);
