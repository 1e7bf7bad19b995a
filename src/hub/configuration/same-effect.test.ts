import { expect, test } from 'vitest';
import type { PolicyRule } from '../../domain/index.ts';
import { draftConfiguration } from '../../governance/policy/configuration.fixture.ts';
import type { Judgement } from '../../trust/index.ts';
import { isSameEffect } from './same-effect.ts';

/** Two servers that share the rules of a client's file. */
function judgement(patterns: readonly string[], agent = 'a'): Judgement {
  const source = { file: '.gemini/settings.json', line: 1 };
  const rules = patterns.map((pattern): PolicyRule => ({ pattern, effect: 'deny', source }));
  const restriction = {
    source,
    tools: {},
    access: undefined,
    rules: { prefix: '', rules, agents: new Map([[agent, rules]]) },
  };
  const server = { restrictedBy: [restriction] };
  const configuration = draftConfiguration({ servers: { one: server, two: server } });
  return { configuration, pending: [] } as unknown as Judgement; // the other parts are not compared
}

test('two loads with the same rules of clients have the same effect, and others do not', () => {
  expect(isSameEffect(judgement(['drop', 'cut']), judgement(['drop', 'cut']))).toBe(true);
  expect(isSameEffect(judgement(['drop', 'cut']), judgement(['cut', 'drop']))).toBe(false);
  expect(isSameEffect(judgement(['drop']), judgement([]))).toBe(false);
  expect(isSameEffect(judgement(['drop']), judgement(['drop'], 'b'))).toBe(false);
});
