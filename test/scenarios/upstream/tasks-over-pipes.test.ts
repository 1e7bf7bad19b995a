import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { createSilentLogger, createSystemClock, systemRandom } from '../../../src/base/index.ts';
import { serveStdio } from '../../../src/faces/mcp-stdio/index.ts';
import type { Hub } from '../../../src/hub/index.ts';
import { openStage } from '../../support/hub.ts';
import { metaPrefix, modernMeta } from '../../support/mcp-clients.ts';
import type { Message } from '../../support/mcp-http.ts';
import { verifies } from '../../support/verifies.ts';
import { eventually } from '../../support/within.ts';

const tasks = { [`${metaPrefix}clientCapabilities`]: { extensions: { [`${metaPrefix}tasks`]: {} } } };

/** A modern client on a pair of pipes. */
function speak(hub: Hub, agent: string): (method: string, params: object, meta?: object) => Promise<Message> {
  const input = new PassThrough();
  const output = new PassThrough();
  let said = '';
  output.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const deps = { hub, clock: createSystemClock(), logger: createSilentLogger(), random: systemRandom };
  const face = serveStdio({ ...deps, caller: hub.callerFor({ agent }), input, output });
  onTestFinished(() => face.close());
  let id = 0;
  return (method, params, meta = tasks) => {
    const sent = ++id;
    input.write(
      `${JSON.stringify({ jsonrpc: '2.0', id: sent, method, params: { ...params, _meta: modernMeta(meta) } })}\n`,
    );
    return eventually(() => {
      const messages = said
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Message); // all lines are JSON
      return messages.find((message) => message.id === sent);
    }, `an answer to ${method}`);
  };
}

test(verifies('tasks:own', 'a hub that was started anew knows its tasks, and whose they are'), async () => {
  const stage = await openStage();
  const { url } = await stage.fixture('tasks.mjs');
  const config = { servers: { work: { url } } };
  const first = await stage.start(config);
  const made = await speak(first, 'ada')('tools/call', { name: 'work_slow_compute', arguments: { seconds: 60 } });
  expect(made.result).toMatchObject({ resultType: 'task' });
  const { taskId } = made.result ?? {};
  await stage.stop();

  const second = await stage.start(config);
  const [ada, bob] = [speak(second, 'ada'), speak(second, 'bob')];
  expect((await ada('tasks/get', { taskId })).result).toMatchObject({ taskId, status: 'working' });
  expect((await bob('tasks/get', { taskId })).error?.code).toBe(-32602);
  expect((await ada('tasks/get', { taskId }, {})).error?.code).toBe(-32021);
  expect((await ada('tasks/cancel', { taskId })).result).toMatchObject({ resultType: 'complete' });
});

test(verifies('tasks:own', 'the task of a server that is away is not unknown'), async () => {
  const stage = await openStage();
  const upstream = await stage.fixture('tasks.mjs');
  const hub = await stage.start({ servers: { work: { url: upstream.url, limits: { grace_s: 1 } } } });
  const ada = speak(hub, 'ada');
  const made = await ada('tools/call', { name: 'work_slow_compute', arguments: { seconds: 60 } });
  const { taskId } = made.result ?? {};
  await upstream.stop();
  expect((await ada('tasks/get', { taskId })).error?.data).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  stage.clock.advance(10_000);
  const gone = await eventually(async () => {
    const { error } = await ada('tasks/get', { taskId });
    return error?.message.includes('not in your list') ? error : undefined;
  }, 'the server to be given up');
  expect(gone.data).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', server: 'work', tool: 'slow_compute' });
});
