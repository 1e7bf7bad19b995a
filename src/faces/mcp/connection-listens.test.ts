import { expect, test } from 'vitest';
import { openStage, stdioServer } from '../../../test/support/hub.ts';
import type { Message } from '../../../test/support/mcp-http.ts';
import { eventually } from '../../../test/support/within.ts';
import { ConnectionListens } from './connection-listens.ts';
import type { Request } from './operations.ts';

const note = 'memo://up/note';

async function begin() {
  const stage = await openStage();
  const server = stdioServer('matrix.mjs', ['--era', 'legacy', '--label', 'up', '--stdio']);
  await stage.start({ servers: { up: server } });
  await stage.hub.discover();
  const sent: Message[] = [];
  const subscriptions = new ConnectionListens(stage.hub, (text) => sent.push(JSON.parse(text)));
  const caller = stage.hub.callerFor({ agent: 'tester' });
  const open = (id: number, notifications: object): Promise<void> =>
    subscriptions.open(caller, {
      kind: 'request',
      id,
      idText: String(id),
      method: 'subscriptions/listen',
      params: { notifications },
      argumentsText: undefined,
      inputsText: undefined,
      heldBytes: 0,
    } satisfies Request);
  const touch = (uri: string): Promise<string> => stage.say('up_touch', { nonce: 'n', uri });
  return { stage, sent, subscriptions, open, touch };
}

test('the acknowledgement comes first, then the changes, under the id of the request', async () => {
  const { sent, subscriptions, open, touch } = await begin();
  const uris = [note, note, 'nobody://has'];
  await open(7, { toolsListChanged: true, promptsListChanged: 'yes', resourceSubscriptions: uris });
  expect(sent[0]).toMatchObject({
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications: { toolsListChanged: true, resourceSubscriptions: [note] } },
  });
  subscriptions.announce('prompts');
  subscriptions.announce('tools');
  await touch(note);
  await eventually(() => sent[2], 'the change');
  expect(sent.slice(1).map(({ method }) => method)).toEqual([
    'notifications/tools/list_changed',
    'notifications/resources/updated',
  ]);
  expect(sent[2]?.params).toMatchObject({ uri: note, _meta: { 'io.modelcontextprotocol/subscriptionId': 7 } });
  subscriptions.close();
  expect(sent[3]).toMatchObject({ id: 7, result: { resultType: 'complete' } });
});

test('a client that cancels before its subscription is granted is not notified', async () => {
  const { sent, subscriptions, open, touch } = await begin();
  const opening = open(7, { resourceSubscriptions: [note] });
  subscriptions.cancel(7);
  await opening;
  const second = open(8, { resourceSubscriptions: [note] });
  subscriptions.close();
  await second;
  expect(sent.map(({ id }) => id)).toEqual([8]);
  await touch(note);
  expect(sent).toHaveLength(1);
});

test('the same id again replaces what it stood for', async () => {
  const { sent, subscriptions, open } = await begin();
  await open(7, { toolsListChanged: true });
  await open(7, { promptsListChanged: true });
  subscriptions.announce('tools');
  subscriptions.announce('prompts');
  expect(sent.slice(2).map(({ method }) => method)).toEqual(['notifications/prompts/list_changed']);
});

test.each([
  undefined,
  [],
  { resourceSubscriptions: 'memo://a' },
  { resourceSubscriptions: [7] },
  { resourceSubscriptions: Array.from({ length: 257 }, (_, index) => `memo://${index}`) },
])('a wish that cannot be read is refused', async (notifications) => {
  const { open } = await begin();
  await expect(open(1, notifications as object)).rejects.toMatchObject({ code: 'INVALID_PARAMS' }); // that is the test
});

test('one connection has so many subscriptions and no more', async () => {
  const { open, subscriptions } = await begin();
  for (let id = 0; id < 64; id++) await open(id, {});
  await expect(open(64, {})).rejects.toMatchObject({ code: 'OVERLOADED' });
  await open(0, {});
  subscriptions.cancel(0);
  await open(64, {});
  subscriptions.close();
});
