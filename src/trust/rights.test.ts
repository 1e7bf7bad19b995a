import { expect, test } from 'vitest';
import { RuleCondition } from '../domain/index.ts';
import { draftConfiguration } from '../governance/policy/configuration.fixture.ts';
import { policyRights, serverRights } from './rights.ts';
import { trustDigest, trustItems } from './trust-item.ts';

const source = { file: 'quartermaster.yaml', line: 1 };

/** As a compiler of conditions makes them: every closure has the same source text. */
function ruleFor(prefix: string) {
  const condition = new RuleCondition(`path starts with ${prefix}`, ({ args }) => String(args.path).startsWith(prefix));
  return { pattern: 'files.write', effect: 'allow', source, condition } as const;
}

function configurationWith(prefix: string) {
  return { ...draftConfiguration({ servers: { files: {} } }), policy: { source, rules: [ruleFor(prefix)] } };
}

test('a changed condition is not the approved one', () => {
  const items = ['/tmp/', '/etc/', '/tmp/'].map((prefix) =>
    trustItems({ configuration: configurationWith(prefix), plans: new Map() }, new Uint8Array(32)),
  );
  const [tmp, etc, again] = items.map((all) => all.map(({ hash }) => hash));
  expect(etc).not.toEqual(tmp);
  expect(again).toEqual(tmp);
  const [tmpDigest, etcDigest] = items.map(trustDigest);
  expect(etcDigest).not.toBe(tmpDigest);
});

test('the rights of a policy show the condition as it is written', () => {
  expect(policyRights(configurationWith('/tmp/'))).toMatchObject({
    policy: [['files.write', 'allow', 'path starts with /tmp/']],
  });
});

test('the rights of a server show the conditions of its clients', () => {
  const server = draftConfiguration({ servers: { files: {} } }).servers.get('files');
  if (server?.kind !== 'ready') throw new Error('the draft has the server');
  const access = { scopes: undefined, readOnly: false, writeRequiresApproval: false, trustAnnotations: false };
  const rightsWith = (prefix: string) => {
    const rules = { prefix: 'files_', rules: [ruleFor(prefix)], agents: new Map() };
    const restrictedBy = [{ source, tools: { include: undefined, exclude: undefined }, access, rules }];
    return serverRights({ ...server.spec, restrictedBy } as unknown as typeof server.spec);
  };
  expect(rightsWith('/tmp/')).not.toEqual(rightsWith('/etc/'));
  expect(rightsWith('/tmp/')).toEqual(rightsWith('/tmp/'));
});
