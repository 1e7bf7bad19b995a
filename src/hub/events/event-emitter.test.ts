import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { createManualClock } from '../../base/manual-clock.fixture.ts';
import { createEventEmitter } from './event-emitter.ts';
import { createEventQueue } from './event-queue.ts';
import type { HubEvent } from './hub-event.ts';

function openStream() {
  const log: string[] = [];
  const say = (event: string): void => void log.push(event);
  const logger = { debug: say, info: say, warn: say, error: say };
  return { log, stream: createEventEmitter({ clock: createManualClock(), logger }) };
}

test(verifies('events:contained', 'an error of one listener does not affect the others'), () => {
  const { log, stream } = openStream();
  const heard: HubEvent[] = [];
  stream.on(() => {
    throw new Error('a defect');
  });
  const stop = stream.on((event) => heard.push(event));
  const emit = stream.forProject('workspace');
  emit({ type: 'server.removed', server: 'one' });
  expect(heard).toMatchObject([{ type: 'server.removed', project: 'workspace', server: 'one' }]);
  expect(log).toEqual(['events.listener-failed']);
  stop();
  emit({ type: 'server.removed', server: 'two' });
  expect(heard).toHaveLength(1);
});

test('a listener that leaves while it is called, or comes, disturbs no other', () => {
  const { stream } = openStream();
  const heard: string[] = [];
  const stop = stream.on(() => {
    heard.push('first');
    stop();
  });
  stream.on(() => heard.push('second'));
  stream.emit({ type: 'hub.stopping' });
  stream.emit({ type: 'hub.stopping' });
  expect(heard).toEqual(['first', 'second', 'second']);
});

test(verifies('events:contained', 'a queue keeps the newest and says how many it dropped'), () => {
  const queue = createEventQueue(3);
  const event = (server: string, time: number): HubEvent => ({
    type: 'server.removed',
    project: 'workspace',
    server,
    time,
  });
  for (let number = 1; number <= 10; number++) queue.push(event(`s${number}`, number));
  expect(queue.shift()).toEqual({ type: 'events.lost', time: 7, count: 7 });
  expect(queue.shift()).toMatchObject({ server: 's8' });
  queue.push(event('s11', 11));
  queue.push(event('s12', 12));
  expect(queue.shift()).toEqual({ type: 'events.lost', time: 9, count: 1 });
  expect([queue.shift(), queue.shift(), queue.shift()]).toMatchObject([
    { server: 's10' },
    { server: 's11' },
    { server: 's12' },
  ]);
  expect(queue.shift()).toBeUndefined();
});
