import { expect, test } from 'vitest';
import { verifies } from '../../test/support/verifies.ts';
import { draftConfiguration } from '../governance/policy/configuration.fixture.ts';
import { createExplain } from './explain-decision.ts';

test(verifies('policy:conditions', 'an explanation with arguments is the decision on a call with them'), () => {
  const configuration = draftConfiguration({
    servers: { files: {} },
    policy: { 'files.write': { effect: 'deny', when: ({ path }) => path === '/etc/passwd' } },
  });
  const names = {
    of: () => {
      throw new Error('nobody offers a tool');
    },
  };
  const explain = createExplain(() => configuration, { upstreams: new Map() }, names);
  expect(explain(['dev'], 'files', 'write').effect).toBe('allow');
  expect(explain(['dev'], 'files', 'write', { args: { path: 'notes.txt' } })).toMatchObject({
    effect: 'allow',
    reason: { kind: 'default' },
  });
  expect(explain(['dev'], 'files', 'write', { args: { path: '/etc/passwd' } })).toMatchObject({
    effect: 'deny',
    reason: { pattern: 'files.write', source: { file: 'quartermaster.yaml', line: 1 } },
  });
});
