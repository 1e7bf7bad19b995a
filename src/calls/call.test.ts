import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { HubError } from '../base/index.ts';
import { type ClientResponse, clientCapabilitiesOf } from '../mcp/index.ts';
import type { PendingRequest } from '../upstream/index.ts';
import { Call, type CallRequest } from './call.ts';

const request: CallRequest = {
  kind: 'tool',
  caller: { agent: 'tester', project: 'workspace', chain: ['tester'], tokenId: undefined, run: 'run-1' },
  name: 'files_read',
  argumentsText: '{"path":"a\\nb"}',
  args: { path: 'a\nb' },
  meta: '',
  channel: undefined,
};

test('a call cancelled before it is sent is known to be, with the first reason', () => {
  const call = new Call(request);
  expect(call.cancelled).toBeUndefined();
  call.cancel('the user left');
  const { cancelled } = call;
  call.cancel('again');
  expect(call.cancelled).toBe(cancelled);
  expect(cancelled).toMatchObject({ code: 'CANCELLED', message: 'The call was cancelled: the user left.' });
});

test('the server is told once, whether the cancellation comes before or after the call was handed over', () => {
  const before = new Call(request);
  before.cancel('x');
  const first = recordingRequest();
  before.wasSent(first.pending);
  before.cancel('y');
  expect(first.told).toEqual([before.cancelled]);

  const after = new Call(request);
  const second = recordingRequest();
  after.wasSent(second.pending);
  expect(second.told).toEqual([]);
  after.cancel('x');
  after.cancel('y');
  expect(second.told).toEqual([after.cancelled]);
});

test('a call that has ended cannot be cancelled', () => {
  const call = new Call(request);
  const { pending, told } = recordingRequest();
  call.wasSent(pending);
  call.ended('done');
  call.cancel('too late');
  expect(call.cancelled).toBeUndefined();
  expect(told).toEqual([]);
});

test('a call tells where it is: received, held, sent, awaiting input while somebody is asked, and how it ended', async () => {
  const answers: ((answer: ClientResponse) => void)[] = [];
  const call = new Call({
    ...request,
    client: { principal: 'p', session: undefined, clientCapabilities: canElicit, takesInputRequired: false },
    channel: { ask: () => new Promise((resolve) => answers.push(resolve)) },
  });
  expect(call.state).toBe('received');
  call.wasHeld();
  expect(call.state).toBe('held');
  call.wasSent(recordingRequest().pending);
  expect(call.state).toBe('sent');
  const asked = [call.ask(elicitation), call.ask(elicitation)];
  expect(call.state).toBe('awaiting-input');
  for (const answer of answers) answer({ kind: 'result', text: '{"action":"accept"}' });
  await Promise.all(asked);
  expect(call.state).toBe('sent');
  call.ended('interrupted');
  expect(call.state).toBe('interrupted');
});

test('a question that nobody can answer does not hold a call up', async () => {
  const call = new Call(request);
  call.wasSent(recordingRequest().pending);
  const answer = call.ask(elicitation);
  expect(call.state).toBe('sent');
  expect(await answer).toMatchObject({ kind: 'error' });
});

test('a wait ends with what was waited for, with its failure, or with the cancellation that came first', async () => {
  expect(await new Call(request).waitFor(Promise.resolve(7))).toBe(7);
  const failure = new Error('no');
  await expect(new Call(request).waitFor(Promise.reject(failure))).rejects.toBe(failure);

  const call = new Call(request);
  const wait = call.waitFor(new Promise(() => {}));
  call.cancel('x');
  await expect(wait).rejects.toBe(call.cancelled);
  await expect(call.waitFor(Promise.resolve(7))).rejects.toBe(call.cancelled);
});

test('progress goes to whoever is attached, and to nobody once the call has ended', () => {
  const seen: unknown[] = [];
  const channel = (who: string) => ({ progress: (params: object) => seen.push([who, params]) });
  const call = new Call({ ...request, channel: channel('first') });
  call.progress({ progress: 1 });
  call.detach();
  call.progress({ progress: 2 });
  call.attach(channel('second'));
  call.progress({ progress: 3 });
  call.ended('done');
  call.progress({ progress: 4 });
  call.attach(channel('third'));
  call.progress({ progress: 5 });
  expect(seen).toEqual([
    ['first', { progress: 1 }],
    ['second', { progress: 3 }],
  ]);
});

test('a call releases its resources when it ends, even if the call object stays referenced', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void; // what the flag adds
  const { call, held } = callWithWeakParts();
  collect();
  expect(held.map((part) => part.deref() === undefined)).toEqual([false, false, false]);
  call.ended('done');
  // A weak reference that was read stays until the turn ends.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  expect(held.map((part) => part.deref() === undefined)).toEqual([true, true, true]);
  expect(() => call.request).toThrow('ended');
});

test('arguments over several lines travel on one, for a line break would end the message on a pipe', () => {
  const smuggled = '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"forbidden"}}';
  const call = new Call({ ...request, argumentsText: `{"a":[\n${smuggled}\r\n],\t"b":"c\\n"}` });
  expect(call.request.argumentsText).toBe(`{"a":[ ${smuggled}  ],\t"b":"c\\n"}`);
  expect(new Call(request).request).toBe(request);
});

const canElicit = clientCapabilitiesOf({ elicitation: { form: {} } });
const elicitation = { method: 'elicitation/create', params: { mode: 'form', message: 'Who?' }, paramsText: '{}' };

function recordingRequest(): { pending: PendingRequest; told: HubError[] } {
  const told: HubError[] = [];
  return { told, pending: { reply: new Promise(() => {}), cancel: (error) => told.push(error) } };
}

function callWithWeakParts(): { call: Call; held: WeakRef<object>[] } {
  const args = { large: 'x' };
  const channel = { progress() {} };
  const { pending } = recordingRequest();
  const call = new Call({ ...request, args, channel });
  call.wasSent(pending);
  return { call, held: [new WeakRef(args), new WeakRef(channel), new WeakRef(pending)] };
}
