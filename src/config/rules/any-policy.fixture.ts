import { tmpdir } from 'node:os';
import fc from 'fast-check';
import { type CallToDecide, type Configuration, type Decision, decideOn } from '../../domain/index.ts';
import { compilePolicy } from '../../governance/index.ts';
import { loadWithSources } from '../load-configuration.ts';

/** Rules as people write them, in every form, on two tools of one server. */
export type AnyRules = Readonly<Record<string, unknown>>;

/** The places where a workspace has rules: for everybody, for an agent and for its role. */
export const rulePlaces = ['everybody', 'dev', 'lead'] as const;
export type RulePlace = (typeof rulePlaces)[number];
export type AnyPolicy = Readonly<Record<RulePlace, AnyRules>>;

export interface AnyCall {
  readonly tool: 'act' | 'look';
  /** Who calls, and who delegated to it. */
  readonly chain: readonly string[];
  readonly call: CallToDecide;
  readonly destructive: boolean | null;
}

const scalars = fc.oneof(fc.constantFrom('x', 'y', 'xy', '../x'), fc.nat({ max: 3 }), fc.boolean());

const tests = fc.record(
  {
    prefix: fc.constantFrom('x', 'y'),
    glob: fc.constantFrom('x*', '?', '**'),
    regex: fc.constantFrom('^x', 'y$'),
    min: fc.nat({ max: 3 }),
    inside: fc.constantFrom('x', '.'),
    in: fc.array(scalars, { minLength: 1, maxLength: 2 }),
  },
  { requiredKeys: [] },
);

const someTests = tests.filter((each) => Object.keys(each).length > 0);

const conditions = fc.oneof(
  scalars,
  fc.array(scalars, { minLength: 1, maxLength: 2 }),
  someTests,
  fc.record({ not: fc.oneof(scalars, someTests) }),
);

const when = fc.dictionary(fc.constantFrom('a', 'b.*', 'c.d'), conditions, { minKeys: 1, maxKeys: 2 });

function clausesOf<Effect extends string>(effect: fc.Arbitrary<Effect>) {
  return fc.record(
    { effect, when, kind: fc.constantFrom('read', 'write', 'destructive'), after: fc.constantFrom('private-data') },
    { requiredKeys: ['effect'] },
  );
}

const effects = fc.constantFrom('allow', 'require-approval', 'deny');
const clauses = clausesOf(effects);
export const denyClauses = clausesOf(fc.constant('deny'));
export const patterns = fc.constantFrom('hub.act', 'hub.look', 'hub.*', '*.act', '*');

const rules: fc.Arbitrary<AnyRules> = fc.dictionary(
  patterns,
  fc.oneof(effects, clauses, fc.array(clauses, { minLength: 1, maxLength: 3 })),
  { maxKeys: 3 },
);

export const policies: fc.Arbitrary<AnyPolicy> = fc.record({ everybody: rules, dev: rules, lead: rules });

const values = fc.oneof(scalars, fc.array(scalars, { maxLength: 2 }), fc.constant(null), fc.record({ d: scalars }));

export const calls: fc.Arbitrary<AnyCall> = fc.record({
  tool: fc.constantFrom('act', 'look'),
  chain: fc.constantFrom(['dev'], ['lead'], ['dev', 'lead'], ['lead', 'dev']),
  call: fc.record({
    args: fc.dictionary(fc.constantFrom('a', 'b', 'c'), values, { maxKeys: 3 }),
    labels: fc.constantFrom(undefined, new Set<string>(), new Set(['private-data'])),
  }),
  destructive: fc.constantFrom(null, true, false),
});

/** `dev` has the role `lead`. The server's tools may need approval, which an exact rule lifts. */
export function documentOf(sections: Readonly<Record<RulePlace, unknown>>): Readonly<Record<string, unknown>> {
  const { everybody, dev, lead } = sections;
  return {
    servers: { hub: { url: 'https://hub.example/mcp', writeRequiresApproval: true } },
    agents: { dev: { role: 'lead', policies: dev }, lead: { servers: ['hub'], policies: lead } },
    policies: everybody,
  };
}

export function enforced({ everybody, dev, lead }: AnyPolicy): Readonly<Record<string, unknown>> {
  return documentOf({ everybody: { tools: everybody }, dev: { tools: dev }, lead: { tools: lead } });
}

/** Reads the document as the hub reads quartermaster.yaml, without a file. */
export async function configurationOf(document: unknown): Promise<Configuration> {
  const text = JSON.stringify(document);
  const instead = new Map([['quartermaster.yaml', { kind: 'text', text } as const]]);
  return (await loadWithSources({ env: {} }, { workspace: tmpdir(), instead, only: true })).configuration;
}

export interface Decided {
  readonly listed: Decision;
  readonly called: Decision;
}

export function decideAny(configuration: Configuration, { tool, chain, call, destructive }: AnyCall): Decided {
  const listed = compilePolicy(configuration, chain).decide('hub', tool, `hub_${tool}`, {
    readOnly: null,
    destructive,
  });
  return { listed, called: decideOn(listed, call) };
}

export function strictnessOf({ effect }: Decision): number {
  return { allow: 0, ask: 1, deny: 2 }[effect];
}
