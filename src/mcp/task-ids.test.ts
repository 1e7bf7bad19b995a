import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMovingClock } from '../../test/support/moving-clock.ts';
import { HubError } from '../base/index.ts';
import { createRequestStates } from './request-state.ts';
import { createTaskIds, type TaskClaims } from './task-ids.ts';

const key = Buffer.alloc(32, 7);
const ids = createTaskIds({ key });
const claims: TaskClaims = { server: 'files', tool: 'copy', taskId: 'task-1' };

const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', '.', 'qmt1.', '\ud800', '\0', '"\\'));
const anyClaims = fc.record<TaskClaims>({ server: anyText, tool: anyText, taskId: anyText });

test('what is sealed comes back exactly, to the same principal only, and fits into a header', () => {
  fc.assert(
    fc.property(anyClaims, anyText, anyText, (given, principal, other) => {
      const id = ids.seal(given, principal);
      expect(id).toMatch(/^qmt1\.[\w-]+\.[\w-]{43}$/);
      expect(ids.open(id, principal)).toEqual(given);
      fc.pre(other !== principal);
      expect(ids.open(id, other)).toBeUndefined();
    }),
  );
});

test('no byte of it can be changed, and another key knows nothing of it', () => {
  const id = ids.seal(claims, 'agent');
  for (let at = 0; at < id.length; at++) {
    const changed = `${id.slice(0, at)}${id[at] === 'A' ? 'B' : 'A'}${id.slice(at + 1)}`;
    expect(ids.open(changed, 'agent'), changed).toBeUndefined();
  }
  for (const text of ['', '.', 'qmt1.', 'qmt1..', id.slice(0, -1), `${id}=`, ` ${id}`, claims.taskId]) {
    expect(ids.open(text, 'agent'), text).toBeUndefined();
  }
  expect(createTaskIds({ key: Buffer.alloc(32, 8) }).open(id, 'agent')).toBeUndefined();
});

test('other signed texts are not task ids, and task ids are nothing else', () => {
  const states = createRequestStates({ clock: createMovingClock(), key }, { lifeMs: 1000 });
  const bound = { principal: 'agent', subject: '' };
  expect(
    ids.open(states.seal({ ...bound, kind: 'relay', value: '["files","copy","task-1"]' }), 'agent'),
  ).toBeUndefined();
  expect(states.open(ids.seal(claims, 'agent'), { principal: 'agent', subject: () => '' })).toBeUndefined();
});

test('an id that no header could carry is refused when the task is made', () => {
  expect(() => ids.seal({ ...claims, taskId: 'x'.repeat(4096) }, 'agent')).toThrow(HubError);
  const id = ids.seal({ ...claims, taskId: 'x'.repeat(2900) }, 'agent');
  expect(ids.open(id, 'agent')?.taskId).toHaveLength(2900);
});
