import { expect, test } from 'vitest';
import type { RightsDocument } from './rights.ts';
import type { PolicyItem } from './trust-item.ts';
import { waitingLines } from './waiting-lines.ts';

const item = (rights: RightsDocument): PolicyItem => ({ kind: 'policy', hash: '', file: '', rights });
const waiting = (before: RightsDocument, after: RightsDocument): readonly string[] =>
  waitingLines(item(before), item(after));

const rule = (...rules: string[]): RightsDocument => ({ policy: rules.map((each) => each.split(' ')) });
const agent = (own: RightsDocument): RightsDocument => ({ agents: { a: own } });
const tools = (filter: RightsDocument): RightsDocument => agent({ tools: { up: filter } });
const limits = (own: RightsDocument): RightsDocument => ({ limits: own });

test.each<[string, RightsDocument, RightsDocument]>([
  ['a rule that denies', rule('a.b allow'), rule('a.b allow', 'a.c deny')],
  ['an allowed tool that is denied', rule('a.b allow'), rule('a.b deny')],
  ['a rule that allowed', rule('a.b allow', 'a.c ask'), rule('a.c ask')],
  ['tools to leave out', tools({}), tools({ exclude: ['x'] })],
  ['a first list of tools', agent({ servers: ['up'] }), agent({ servers: ['up'], tools: { up: { include: ['x'] } } })],
  ['a shorter list of tools', tools({ include: ['x', 'y'] }), tools({ include: ['x'] })],
  ['an empty list of tools', tools({ include: ['x'] }), tools({ include: [] })],
  ['fewer servers', agent({ servers: ['a', 'b'] }), agent({ servers: ['a'] })],
  ['reading alone', { access: {} }, { access: { readOnly: true, writeRequiresApproval: true } }],
  ['annotations that are not trusted', { access: { trustAnnotations: true } }, { access: {} }],
  ['a server that is off', { enabled: true }, { enabled: false }],
  ['a lower rate', limits({ ratePerMin: 100 }), limits({ ratePerMin: 9 })],
  ['a first rate', limits({}), limits({ ratePerMin: 100 })],
  ['a smaller body', { serve: { maxBodyBytes: 1000 } }, { serve: { maxBodyBytes: 999 } }],
])('%s: in force at once, so nothing waits', (_what, before, after) => {
  expect(waiting(before, after)).toEqual([]);
});

test.each<[string, RightsDocument, RightsDocument, string[]]>([
  ['a rule that goes', rule('a.b deny'), rule(), ['- policy: a.b deny', '+ policy: none']],
  ['a rule that asks', rule('a.* deny'), rule('a.* deny', 'a.b ask'), ['+ policy: a.b ask']],
  ['a rule that allows', rule('a.* deny'), rule('a.* deny', 'a.b allow'), ['+ policy: a.b allow']],
  ['a tool more', tools({ include: ['x'] }), tools({ include: ['x', 'y'] }), ['+ agents.a.tools.up.include: y']],
  [
    'a list that goes',
    tools({ include: ['x'], exclude: ['z'] }),
    tools({ exclude: ['z'] }),
    ['- agents.a.tools.up.include: x'],
  ],
  ['a tool back', tools({ exclude: ['x', 'y'] }), tools({ exclude: ['x'] }), ['- agents.a.tools.up.exclude: y']],
  ['a higher rate', limits({ ratePerMin: 9 }), limits({ ratePerMin: 100 }), changed('limits.ratePerMin', 9, 100)],
  ['no rate', limits({ ratePerMin: 9 }), limits({}), ['- limits.ratePerMin: 9']],
  ['a server that is on', { enabled: false }, { enabled: true }, changed('enabled', false, true)],
  ['other names', { naming: 'prefixed' }, { naming: 'preserved' }, changed('naming', 'prefixed', 'preserved')],
])('%s: waits', (_what, before, after, lines) => {
  expect(waiting(before, after)).toEqual(lines);
});

test('of both kinds only the one that waits is told', () => {
  expect(waiting(rule('a.b deny'), rule('a.c deny'))).toEqual(['- policy: a.b deny']);
});

function changed(path: string, before: unknown, after: unknown): string[] {
  return [`- ${path}: ${before}`, `+ ${path}: ${after}`];
}
