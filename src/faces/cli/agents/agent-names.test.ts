import { expect, test } from 'vitest';
import type { AgentSpec } from '../../../domain/index.ts';
import { agentNames } from './agent-names.ts';

const entry = {} as AgentSpec; // only the names matter

test('the members of a roster are agents, and their roles are not', () => {
  const agents = new Map(['ada', 'lead', 'tester'].map((name) => [name, entry]));
  const roles = new Map([
    ['ada', 'lead'],
    ['grace', 'lead'],
  ]);
  expect(agentNames({ agents, roles })).toEqual(['ada', 'tester', 'grace']);
  expect(agentNames({ agents, roles: new Map() })).toEqual(['ada', 'lead', 'tester']);
});
