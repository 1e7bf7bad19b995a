import { expect, test } from 'vitest';
import type { Question } from '../mcp/index.ts';
import { Call, type CallResult } from './call.ts';
import { Dialogue } from './dialogue.ts';

function begin() {
  const dialogue = new Dialogue();
  const call = new Call({
    caller: { agent: 'a', chain: ['a'], tokenId: undefined, run: 'r' },
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
  dialogue.begin({ call, result });
  return { dialogue, call, end, fail };
}

function question(message: string): Question {
  const params = { message };
  return { method: 'elicitation/create', params, paramsText: JSON.stringify(params) };
}

const done: CallResult = { kind: 'result', result: { kind: 'result', id: 1, text: '{}', value: {} } };

test('questions are a turn; what was answered reaches who asked, the rest is asked again', async () => {
  const { dialogue, end } = begin();
  const answers = [dialogue.ask(question('one')), dialogue.ask(question('two'))];
  const asked = await dialogue.next();
  expect(asked).toMatchObject({ kind: 'asked' });
  expect(inputs(asked)).toEqual({
    q1: { method: 'elicitation/create', params: { message: 'one' } },
    q2: { method: 'elicitation/create', params: { message: 'two' } },
  });
  dialogue.answer({ q2: { action: 'decline' }, q9: { action: 'accept' }, ['__proto__']: {} });
  expect(await answers[1]).toEqual({ kind: 'result', text: '{"action":"decline"}' });
  expect(Object.keys(inputs(await dialogue.next()))).toEqual(['q1']);
  dialogue.answer({ q1: { action: 'cancel' } });
  const last = dialogue.next();
  end(done);
  expect(await last).toEqual({ kind: 'ended', result: done });
});

test('a call that ended while its questions were open has ended', async () => {
  const { dialogue, end } = begin();
  void dialogue.ask(question('too late'));
  end(done);
  expect(await dialogue.next()).toMatchObject({ kind: 'ended' });
});

test('a question that comes while nobody waits for a turn is the next one', async () => {
  const { dialogue } = begin();
  void dialogue.ask(question('one'));
  await dialogue.next();
  void dialogue.ask(question('two'));
  dialogue.answer({ q1: {} });
  expect(Object.keys(inputs(await dialogue.next()))).toEqual(['q2']);
});

test.each([null, 7, 'text', [], true])('an answer that is %j is an error for the server', async (given) => {
  const { dialogue } = begin();
  const answer = dialogue.ask(question('one'));
  dialogue.answer({ q1: given });
  expect(await answer).toMatchObject({ kind: 'error' });
});

test('who gives up answers everything with an error, what is asked later too, and ends the call', async () => {
  const { dialogue, call } = begin();
  const before = dialogue.ask(question('one'));
  dialogue.abandon('the client left');
  dialogue.abandon('again');
  const after = dialogue.ask(question('two'));
  for (const answer of await Promise.all([before, after])) expect(answer).toMatchObject({ kind: 'error' });
  expect(call.cancelled).toMatchObject({ code: 'CANCELLED', message: 'The call was cancelled: the client left.' });
});

test('a defect of the call is heard by who waits for the next turn, and by nobody else', async () => {
  const { dialogue, fail } = begin();
  fail(new Error('a defect'));
  await new Promise((resolve) => setImmediate(resolve));
  await expect(dialogue.next()).rejects.toThrow('a defect');
});

function inputs(turn: Awaited<ReturnType<Dialogue['next']>>): Record<string, unknown> {
  if (turn.kind !== 'asked') throw new Error('not asked');
  return JSON.parse(turn.inputRequests) as Record<string, unknown>; // an object by its contract
}
