import { expect, test } from 'vitest';
import { describeDecision } from './describe-decision.ts';

const source = { file: 'quartermaster.yaml', line: 12 };

test.each([
  [
    { effect: 'allow', reason: { kind: 'default' } },
    'files.read is allowed: no rule speaks of it, and what is routed is allowed by default.',
  ],
  [
    { effect: 'deny', reason: { kind: 'not-routed', agent: 'tester' } },
    'files.read is denied: agent tester has no server files (not routed to it, not shared, switched off or unknown).',
  ],
  [
    { effect: 'deny', reason: { kind: 'not-included', by: 'agent tester', source } },
    'files.read is denied: the include list of agent tester does not name it (quartermaster.yaml:12).',
  ],
  [
    { effect: 'deny', reason: { kind: 'excluded', by: 'server files', source: { file: '.mcp.json' } } },
    'files.read is denied: the exclude list of server files names it (.mcp.json).',
  ],
  [
    { effect: 'ask', reason: { kind: 'rule', pattern: 'files.*', source } },
    'files.read needs approval: rule "files.*" for every agent decides (quartermaster.yaml:12).',
  ],
  [
    { effect: 'deny', reason: { kind: 'rule', pattern: 'files.read', source, agent: 'tester' } },
    'files.read is denied: rule "files.read" of agent tester decides (quartermaster.yaml:12).',
  ],
] as const)('%j', (decision, sentence) => {
  expect(describeDecision(decision, 'files', 'read')).toBe(sentence);
});
