import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { fixturePath } from '../../../test/support/fixture-servers.ts';
import { openStage } from '../../../test/support/hub.ts';
import { initializeRequest } from '../../../test/support/mcp-clients.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { eventually, pause } from '../../../test/support/within.ts';
import { createSilentLogger, systemRandom } from '../../base/index.ts';
import { serveStdio } from './serve-stdio.ts';

const lists = 200;
const mebibyte = 1024 * 1024;

async function open() {
  const stage = await openStage();
  const names = Array.from({ length: 900 }, (_, index) => `${index}`.padEnd(40, 'n'));
  const hub = await stage.start({
    servers: {
      many: { command: process.execPath, args: [fixturePath('named-tools.mjs'), ...names] },
      up: { command: process.execPath, args: [fixturePath('echo-stdio.mjs')] },
    },
  });
  await hub.discover();
  const [input, output] = [new PassThrough(), new PassThrough({ highWaterMark: 16 * 1024 })];
  const caller = hub.callerFor({ agent: 'tester' });
  const deps = { hub, caller, clock: stage.clock, logger: createSilentLogger(), random: systemRandom };
  const face = serveStdio({ ...deps, input, output });
  onTestFinished(() => face.close());
  const say = (...messages: object[]): void =>
    void input.write(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
  return { input, output, say };
}

/** Bytes that the client has not taken. */
function unread(output: PassThrough): number {
  return output.writableLength + output.readableLength;
}

test(verifies('stdio:lists-in-turn', 'hundreds of lists in one chunk are made as the client reads them'), async () => {
  const { output, say } = await open();
  say(initializeRequest());
  await once(output, 'readable');
  output.read();
  const requests = Array.from({ length: lists }, (_, id) => ({ id, method: 'tools/list' }));
  const call = { id: 'call', method: 'tools/call', params: { name: 'up_echo', arguments: { message: 'hi' } } };
  say(...requests, call);
  await eventually(() => unread(output) > 4 * mebibyte || undefined, 'lists that wait to be read');
  // Whatever is still to come would come now.
  await pause(200);
  expect(unread(output)).toBeLessThan(8 * mebibyte);
  const ids: unknown[] = [];
  let text = '';
  output.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = `${text}${chunk}`.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) ids.push((JSON.parse(line) as { id: unknown }).id);
  });
  await eventually(() => ids.length === lists + 1 || undefined, 'all answers');
  expect(ids.filter((id) => id !== 'call')).toEqual(requests.map(({ id }) => id));
  // The call that came last did not wait for all lists before it.
  expect(ids.indexOf('call')).toBeLessThan(lists);
});
