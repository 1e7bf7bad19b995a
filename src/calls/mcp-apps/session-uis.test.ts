import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { noClientCapabilities } from '../../mcp/index.ts';
import { createSessionUis } from './session-uis.ts';

function requestOf(session: string | undefined, run = 'r', tokenId = 't') {
  const client = { principal: 'p', session, clientCapabilities: noClientCapabilities, takesInputRequired: false };
  return { client, caller: { agent: 'dev', project: 'workspace', chain: ['dev'], tokenId, run } };
}

test(verifies('apps:calls', 'a session remembers what it has read itself, and no more than there is room for'), () => {
  const uis = createSessionUis();
  uis.read(requestOf('s'), 'a');
  uis.read(requestOf(undefined, 'r'), 'b');
  expect([...uis.serversOf(requestOf('s'))]).toEqual(['a']);
  expect([...uis.serversOf(requestOf('s', 'r', 'other'))]).toEqual([]);
  expect([...uis.serversOf(requestOf(undefined, 'r'))]).toEqual(['b']);
  expect([...uis.serversOf(requestOf(undefined, 'r2'))]).toEqual([]);
  const { caller } = requestOf('s');
  uis.read({ client: undefined, caller }, 'a');
  expect([...uis.serversOf({ client: undefined, caller })]).toEqual([]);
  for (let index = 0; index < 70; index++) uis.read(requestOf('s'), `server-${index}`);
  expect([...uis.serversOf(requestOf('s'))]).toHaveLength(64);
  expect([...uis.serversOf(requestOf('s'))].at(-1)).toBe('server-69');
});

test(verifies('apps:calls', 'one token with many runs takes no room from another'), () => {
  const uis = createSessionUis();
  uis.read(requestOf(undefined, 'mine', 'quiet'), 'a');
  for (let index = 0; index < 5000; index++) uis.read(requestOf(undefined, `run-${index}`, 'busy'), 'a');
  expect([...uis.serversOf(requestOf(undefined, 'mine', 'quiet'))]).toEqual(['a']);
  expect([...uis.serversOf(requestOf(undefined, 'run-4935', 'busy'))]).toEqual([]);
  expect([...uis.serversOf(requestOf(undefined, 'run-4936', 'busy'))]).toEqual(['a']);
});
