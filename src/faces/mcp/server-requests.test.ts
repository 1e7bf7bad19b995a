import { expect, test } from 'vitest';
import { createMovingClock } from '../../../test/support/moving-clock.ts';
import { answerMs, createServerRequests } from './server-requests.ts';

const serverRequest = { method: 'roots/list', params: {}, paramsText: '{}' } as const;

test('a client that is gone gets no request, and its open requests are dropped', async () => {
  const clock = createMovingClock();
  const serverRequests = createServerRequests(clock);
  const sent: string[] = [];
  const before = serverRequests.ask(serverRequest, (message) => sent.push(message));
  expect(sent).toHaveLength(1);
  serverRequests.close();
  const after = serverRequests.ask(serverRequest, (message) => sent.push(message));
  expect(await Promise.all([before.answer, after.answer])).toMatchObject([{ kind: 'error' }, { kind: 'error' }]);
  after.abandon();
  expect([sent.length, clock.waiting]).toEqual([1, 0]);
});

test('a question is taken back once, when nobody waits for its answer or it took too long', async () => {
  const clock = createMovingClock();
  const serverRequests = createServerRequests(clock);
  const sent: string[] = [];
  const put = () => serverRequests.ask(serverRequest, (message) => sent.push(message));
  const ended = put();
  ended.withdraw();
  ended.withdraw();
  const late = put();
  clock.advance(answerMs);
  expect(await Promise.all([ended.answer, late.answer])).toMatchObject([{ kind: 'error' }, { kind: 'error' }]);
  const answered = put();
  serverRequests.answered({ kind: 'response', id: 'qm-3', answer: { kind: 'result', text: '{"roots":[]}' } });
  answered.withdraw();
  answered.abandon();
  expect(await answered.answer).toEqual({ kind: 'result', text: '{"roots":[]}' });
  expect(sent.map((message) => JSON.parse(message).method)).toEqual([
    'roots/list',
    'notifications/cancelled',
    'roots/list',
    'notifications/cancelled',
    'roots/list',
  ]);
  expect(clock.waiting).toBe(0);
});

test('only the id that was given answers a question, whatever type another has', async () => {
  const clock = createMovingClock();
  const serverRequests = createServerRequests(clock);
  const asked = serverRequests.ask(serverRequest, () => {});
  const answer = { kind: 'result', text: '{}' } as const;
  for (const id of ['qm-2', 'qm-0', '1', 1, '']) serverRequests.answered({ kind: 'response', id, answer });
  expect(clock.waiting).toBe(1);
  serverRequests.answered({ kind: 'response', id: 'qm-1', answer });
  expect(await asked.answer).toEqual(answer);
});

test('a URL to visit has an id of its own for clients of the handshake era', () => {
  const serverRequests = createServerRequests(createMovingClock());
  const sent: { id: string; params: object }[] = [];
  const params = { mode: 'url', url: 'https://example.com', message: 'Go' };
  const paramsText = JSON.stringify(params);
  serverRequests.ask({ method: 'elicitation/create', params, paramsText }, (text) => sent.push(JSON.parse(text)));
  expect(sent).toMatchObject([{ id: 'qm-1', params: { ...params, elicitationId: 'qm-1' } }]);
  serverRequests.close();
});
