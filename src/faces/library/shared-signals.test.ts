import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { createSharedSignals } from './shared-signals.ts';

test('a signal has one listener, however many wait for it, and none when nobody does', () => {
  const signals = createSharedSignals();
  const { signal, abort } = startable();
  const heard: number[] = [];
  const forgets = Array.from({ length: 40 }, (_, index) => signals.onAbort(signal, () => heard.push(index)));
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  for (const forget of forgets) forget();
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  const [first] = [signals.onAbort(signal, () => heard.push(-1)), signals.onAbort(signal, () => heard.push(-2))];
  first();
  first();
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  abort();
  expect(heard).toEqual([-2]);
});

test('an abort reaches all that wait, also those that come after it', () => {
  const signals = createSharedSignals();
  const { signal, abort } = startable();
  const heard: string[] = [];
  const forget = signals.onAbort(signal, () => heard.push('first'));
  signals.onAbort(signal, () => heard.push('second'));
  abort();
  forget();
  signals.onAbort(signal, () => heard.push('late'))();
  expect(heard).toEqual(['first', 'second', 'late']);
});

function startable(): { readonly signal: AbortSignal; abort(): void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
