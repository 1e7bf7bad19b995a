import { expect, test } from 'vitest';
import type { ServerRequest } from '../../mcp/index.ts';
import { Call, type CallResult } from '../call.ts';
import { MultiRoundTrip } from './multi-round-trip.ts';

function begin() {
  const roundTrip = new MultiRoundTrip();
  const call = new Call({
    caller: { agent: 'a', project: 'workspace', chain: ['a'], tokenId: undefined, run: 'r' },
    kind: 'tool',
    name: 'x',
    argumentsText: '{}',
    args: {},
    meta: '',
    channel: undefined,
  });
  let end: (result: CallResult) => void = () => {};
  let fail: (error: Error) => void = () => {};
  const result = new Promise<CallResult>((resolve, reject) => {
    end = resolve;
    fail = reject;
  });
  roundTrip.begin({ call, result });
  return { roundTrip, call, end, fail };
}

function serverRequest(message: string): ServerRequest {
  const params = { message };
  return { method: 'elicitation/create', params, paramsText: JSON.stringify(params) };
}

const done: CallResult = { kind: 'result', result: { kind: 'result', id: 1, text: '{}', value: {} } };

test('questions are a turn; what was answered reaches who asked, the rest is asked again', async () => {
  const { roundTrip, end } = begin();
  const answers = [roundTrip.ask(serverRequest('one')), roundTrip.ask(serverRequest('two'))];
  const asked = await roundTrip.next();
  expect(asked).toMatchObject({ kind: 'asked' });
  expect(inputs(asked)).toEqual({
    q1: { method: 'elicitation/create', params: { message: 'one' } },
    q2: { method: 'elicitation/create', params: { message: 'two' } },
  });
  roundTrip.answer({ q2: { action: 'decline' }, q9: { action: 'accept' }, ['__proto__']: {} });
  expect(await answers[1]).toEqual({ kind: 'result', text: '{"action":"decline"}' });
  expect(Object.keys(inputs(await roundTrip.next()))).toEqual(['q1']);
  roundTrip.answer({ q1: { action: 'cancel' } });
  const last = roundTrip.next();
  end(done);
  expect(await last).toEqual({ kind: 'ended', result: done });
});

test('a call that ended while its questions were open has ended', async () => {
  const { roundTrip, end } = begin();
  void roundTrip.ask(serverRequest('too late'));
  end(done);
  expect(await roundTrip.next()).toMatchObject({ kind: 'ended' });
});

test('a question that comes while nobody waits for a turn is the next one', async () => {
  const { roundTrip } = begin();
  void roundTrip.ask(serverRequest('one'));
  await roundTrip.next();
  void roundTrip.ask(serverRequest('two'));
  roundTrip.answer({ q1: {} });
  expect(Object.keys(inputs(await roundTrip.next()))).toEqual(['q2']);
});

test.each([null, 7, 'text', [], true])('an answer that is %j is an error for the server', async (given) => {
  const { roundTrip } = begin();
  const answer = roundTrip.ask(serverRequest('one'));
  roundTrip.answer({ q1: given });
  expect(await answer).toMatchObject({ kind: 'error' });
});

test('giving up answers all requests with an error, later ones too, and ends the call', async () => {
  const { roundTrip, call } = begin();
  const before = roundTrip.ask(serverRequest('one'));
  roundTrip.abandon('the client left');
  roundTrip.abandon('again');
  const after = roundTrip.ask(serverRequest('two'));
  for (const answer of await Promise.all([before, after])) expect(answer).toMatchObject({ kind: 'error' });
  expect(call.cancelled).toMatchObject({ code: 'CANCELLED', message: 'The call was cancelled: the client left.' });
});

test('a defect of the call reaches the client that waits for the next turn, and no other', async () => {
  const { roundTrip, fail } = begin();
  fail(new Error('a defect'));
  await new Promise((resolve) => setImmediate(resolve));
  await expect(roundTrip.next()).rejects.toThrow('a defect');
});

function inputs(turn: Awaited<ReturnType<MultiRoundTrip['next']>>): Record<string, unknown> {
  if (turn.kind !== 'asked') throw new Error('not asked');
  return JSON.parse(turn.inputRequests) as Record<string, unknown>; // an object by its contract
}
