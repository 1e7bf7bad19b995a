import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import { findWidenings } from './find-widenings.ts';
import { draftFleet, type FleetDraft } from './fleet.fixture.ts';

const base: FleetDraft = {
  servers: {
    a: { tools: { exclude: ['drop'] }, access: { readOnly: true } },
    b: { tools: { include: ['look'] }, access: { writeRequiresApproval: true } },
    off: { enabled: false },
  },
  agents: {
    dev: { servers: ['a'], tools: { a: { exclude: ['write'] } }, policy: { 'a.*': 'require-approval' } },
    lead: { policy: { 'b.write': 'deny' } },
  },
  roles: { ada: 'lead' },
  policy: { 'a.*': 'deny', 'b.look': 'require-approval' },
};

function change(next: Partial<FleetDraft>): readonly string[] {
  return findWidenings(draftFleet(base), draftFleet({ ...base, ...next }));
}

const { a = {}, b = {}, off = {} } = base.servers;
const { dev = {}, lead = {} } = base.agents ?? {};

test(verifies('config:absence', 'what is the same, narrower or about new servers widens nothing'), () => {
  expect(change({})).toEqual([]);
  for (const next of [
    { policy: { ...base.policy, 'b.*': 'deny' } },
    { policy: { 'a.*': 'deny', 'b.look': 'deny' } },
    { servers: { a, off } },
    { servers: { ...base.servers, new: {} } },
    { servers: { ...base.servers, b: { ...b, enabled: false } } },
    { servers: { ...base.servers, a: { ...a, tools: { exclude: ['drop', 'more'], include: ['look'] } } } },
    { servers: { ...base.servers, b: { ...b, tools: { include: [] } } } },
    { agents: { dev: { ...dev, servers: [] }, lead } },
    { agents: { dev: { ...dev, tools: { a: { exclude: ['write', 'x'] }, b: { include: [] } } }, lead } },
    { agents: { dev, lead: { policy: { 'b.write': 'deny', 'b.*': 'deny' } } } },
  ] satisfies Partial<FleetDraft>[]) {
    expect(change(next), JSON.stringify(next)).toEqual([]);
  }
});

test.each<[string, Partial<FleetDraft>, RegExp]>([
  ['all rules', { policy: undefined as never }, /rule "a\.\*: deny" is gone/],
  ['one rule', { policy: { 'a.*': 'deny' } }, /rule "b\.look: require-approval" is gone/],
  ['a weaker rule', { policy: { ...base.policy, 'a.*': 'require-approval' } }, /rule "a\.\*: deny"/],
  ['an exact ask below a pattern that denies', { policy: { ...base.policy, 'a.look': 'require-approval' } }, /a\.look/],
  ['an exact allow, which lifts an approval', { policy: { ...base.policy, 'b.write': 'allow' } }, /b\.write: allow/],
  [
    'an exclude list that is shorter',
    { servers: { ...base.servers, a: { access: { readOnly: true } } } },
    /drop is no/,
  ],
  ['an include list that is gone', { servers: { ...base.servers, b: { access: b.access ?? {} } } }, /included tools/],
  [
    'an include list that is longer',
    { servers: { ...base.servers, b: { ...b, tools: { include: ['look', 'x'] } } } },
    /x is/,
  ],
  ['read-only', { servers: { ...base.servers, a: { tools: a.tools ?? {} } } }, /no longer read-only/],
  ['approval for writing', { servers: { ...base.servers, b: { tools: b.tools ?? {} } } }, /no longer needs approval/],
  [
    'trust',
    { servers: { ...base.servers, a: { ...a, access: { readOnly: true, trustAnnotations: true } } } },
    /trusted/,
  ],
  [
    'a server that is switched on',
    { servers: { ...base.servers, off: { ...off, enabled: true } } },
    /off: it is switched on/,
  ],
  [
    'a shared server',
    { servers: { ...base.servers, b: { ...b, shared: true } } },
    /agents without an entry: b is routed/,
  ],
  ['an agent’s entry', { agents: { lead } }, /agent dev: its entry is gone/],
  [
    'the only route',
    { agents: { dev: { ...dev, servers: undefined }, lead } },
    /agents without an entry: a, b are routed/,
  ],
  ['a longer route', { agents: { dev: { ...dev, servers: ['a', 'b'] }, lead } }, /agent dev: b is routed/],
  ['an agent’s filter', { agents: { dev: { ...dev, tools: {} }, lead } }, /agent dev: server a: write is no longer/],
  ['an agent’s rule', { agents: { dev: { servers: ['a'], tools: dev.tools ?? {} }, lead } }, /agent dev: rule "a\.\*/],
  ['a role', { roles: {} }, /agent ada: role lead is gone/],
  ['another role', { roles: { ada: 'dev' } }, /agent ada: role lead is gone/],
  [
    'a new agent with a rule that lifts',
    { agents: { dev, lead, new: { policy: { 'b.x': 'allow' } } } },
    /agent new: rule "b\.x/,
  ],
])(verifies('config:absence', '%s widens'), (_what, next, said) => {
  expect(change(next).join('\n')).toMatch(said);
});
