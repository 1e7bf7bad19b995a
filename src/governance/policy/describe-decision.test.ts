import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { Decision, ServerAccess, ToolKindReason } from '../../domain/index.ts';
import { adviceOn, describeDecision } from './describe-decision.ts';

const source = { file: 'quartermaster.yaml', line: 12 };

test.each([
  [
    { effect: 'allow', reason: { kind: 'default' } },
    'files.read is allowed: no rule matches, and an agent may use its servers by default.',
  ],
  [
    { effect: 'deny', reason: { kind: 'not-routed', agent: 'tester' } },
    'files.read is denied: agent tester has no access to server files (not routed, not shared, disabled or unknown).',
  ],
  [
    { effect: 'deny', reason: { kind: 'not-included', by: 'agent tester', source } },
    'files.read is denied: it is not in the include list of agent tester (quartermaster.yaml:12).',
  ],
  [
    { effect: 'deny', reason: { kind: 'excluded', by: 'server files', source: { file: '.mcp.json' } } },
    'files.read is denied: it is in the exclude list of server files (.mcp.json).',
  ],
  [
    { effect: 'ask', reason: { kind: 'rule', pattern: 'files.*', source } },
    'files.read needs approval: rule "files.*" for every agent applies (quartermaster.yaml:12).',
  ],
  [
    { effect: 'deny', reason: { kind: 'rule', pattern: 'files.read', source, agent: 'tester' } },
    'files.read is denied: rule "files.read" of agent tester applies (quartermaster.yaml:12).',
  ],
] as const)('%j', (decision, sentence) => {
  expect(describeDecision(decision, 'files', 'read')).toBe(sentence);
});

const access: ServerAccess = {
  scopes: undefined,
  readOnly: false,
  writeRequiresApproval: false,
  trustAnnotations: false,
  source,
};

const name = { server: 'files', tool: 'read' };
const owner = 'role lead';

function decided(kind: 'read-only' | 'write-approval', because: ToolKindReason): Decision {
  const effect = kind === 'read-only' ? 'deny' : 'ask';
  return { effect, reason: { kind, server: 'files', because, source } };
}

test.each([
  ['known-server', 'the tool is known to write'],
  ['annotation', 'the server says that the tool writes'],
  ['no-word', 'the tool is not known to be read-only'],
  ['untrusted-annotation', 'its readOnlyHint is ignored because the server is not trusted'],
] as const)(verifies('view:explain', 'why a tool counts as writing: %s'), (because, why) => {
  expect(describeDecision(decided('read-only', because), 'files', 'read')).toBe(
    `files.read is denied: server files is read-only (quartermaster.yaml:12), and ${why}.`,
  );
  expect(describeDecision(decided('write-approval', because), 'files', 'read')).toBe(
    `files.read needs approval: server files requires approval for tools that may write (quartermaster.yaml:12), and ${why}.`,
  );
});

test.each([
  [{ scopes: ['read:files'] }, 'Add a scope that writes (write:files) if the server may write.'],
  [{ scopes: ['vault:read'] }, 'Add a scope that writes (vault:write) if the server may write.'],
  [{ scopes: ['db:select'] }, 'Add a scope that writes if the server may write.'],
  [{ readOnly: true }, 'Remove its read-only setting if the server may write.'],
  [{ readOnly: true, scopes: ['write:files'] }, 'Remove its read-only setting if the server may write.'],
  [
    { readOnly: true, scopes: ['read:files'] },
    'Add a scope that writes (write:files) and remove its read-only setting if the server may write.',
  ],
])('the way out of a read-only server: %j', (written, advice) => {
  expect(adviceOn(decided('read-only', 'known-server'), name, { access: { ...access, ...written }, owner })).toBe(
    advice,
  );
});

test('a trusted server may say that a tool only reads', () => {
  const scoped = { ...access, scopes: ['read:files'] };
  expect(adviceOn(decided('read-only', 'untrusted-annotation'), name, { access: scoped, owner })).toBe(
    'Set trustAnnotations: true if you trust the annotations of server files, or add a scope that writes (write:files) if the server may write.',
  );
});

test('the way around an approval is a rule for that very tool', () => {
  expect(adviceOn(decided('write-approval', 'known-server'), name, { access, owner })).toBe(
    'Add the exact rule "files.read: allow" for every agent or for role lead.',
  );
});

test('a rule or a list is its own advice', () => {
  const decision: Decision = { effect: 'deny', reason: { kind: 'rule', pattern: '*', source } };
  expect(adviceOn(decision, name, { access, owner })).toBeUndefined();
  expect(adviceOn({ effect: 'allow', reason: { kind: 'default' } }, name, { access, owner })).toBeUndefined();
});
