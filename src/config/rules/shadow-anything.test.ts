import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/support/verifies.ts';
import type { AccessRules, Configuration, Decision } from '../../domain/index.ts';
import { compilePolicy } from '../../governance/index.ts';
import {
  type AnyCall,
  type AnyPolicy,
  type AnyRules,
  calls,
  configurationOf,
  decideAny,
  documentOf,
  policies,
  type RulePlace,
  rulePlaces,
} from './any-policy.fixture.ts';

/** How each place writes its shadow: not at all, beside its rules, or as a mode of the section. */
const forms = fc.constantFrom('none', 'beside', 'mode');
type Form = 'none' | 'beside' | 'mode';
const shadows = fc.record({
  rules: policies,
  tried: policies,
  form: fc.record({ everybody: forms, dev: forms, lead: forms }),
});
interface Shadowed {
  readonly rules: AnyPolicy;
  readonly tried: AnyPolicy;
  readonly form: Readonly<Record<RulePlace, Form>>;
}

type Section = (rules: AnyRules, tried: AnyRules) => unknown;

const written: Readonly<Record<Form, Section>> = {
  none: (tools) => ({ tools }),
  beside: (tools, tried) => ({ tools, shadow: { tools: tried } }),
  mode: (_, tools) => ({ mode: 'shadow', tools }),
};

const enforcedOnly: Readonly<Record<Form, Section>> = {
  none: (tools) => ({ tools }),
  beside: (tools) => ({ tools }),
  mode: () => ({ tools: {} }),
};

const promoted: Readonly<Record<Form, Section>> = {
  none: (tools) => ({ tools }),
  beside: (_, tools) => ({ tools }),
  mode: (_, tools) => ({ tools }),
};

async function load(sections: Readonly<Record<Form, Section>>, { rules, tried, form }: Shadowed) {
  const at = (place: RulePlace): unknown => sections[form[place]](rules[place], tried[place]);
  const configuration = await configurationOf(
    documentOf({ everybody: at('everybody'), dev: at('dev'), lead: at('lead') }),
  );
  expect(configuration.problems).toEqual([]);
  return configuration;
}

function onlyRules({ agents, roles, policy, shadow }: Configuration): AccessRules {
  return { agents, roles, policy, ...(shadow === undefined ? {} : { shadow }) };
}

function said(decision: Decision | undefined): unknown {
  return decision && { effect: decision.effect, reason: decision.reason };
}

/** With and without another version of the rules that was approved before. */
async function configurationsOf(shadowed: Shadowed, before: Shadowed | null) {
  const [real, without, asIfEnforced] = await Promise.all(
    [written, enforcedOnly, promoted].map(async (sections) => {
      const configuration = await load(sections, shadowed);
      if (before === null) return configuration;
      return { ...configuration, approvedRules: onlyRules(await load(sections, before)) };
    }),
  );
  if (real === undefined || without === undefined || asIfEnforced === undefined) throw new Error('all are loaded');
  return { real, without, asIfEnforced };
}

function isShadowed({ form }: Shadowed): boolean {
  return rulePlaces.some((place) => form[place] !== 'none');
}

test(verifies('shadow:same', 'a shadow decision is the one that the rules make when they are enforced'), async () => {
  await fc.assert(
    fc.asyncProperty(shadows, fc.option(shadows), calls, async (shadowed, before, call) => {
      const { real, asIfEnforced } = await configurationsOf(shadowed, before);
      const { listed } = decideAny(real, call);
      const tries = isShadowed(shadowed) || (before !== null && isShadowed(before));
      expect(listed.shadow !== undefined).toBe(tries);
      if (tries) expect(said(listed.shadow?.(call.call))).toEqual(said(decideAny(asIfEnforced, call).called));
      const [tried, enforced] = [readOf(real, call), readOf(asIfEnforced, call)];
      if (tries) expect(said(tried.shadow?.(call.call))).toEqual(said(enforced));
    }),
    { numRuns: 200 },
  );
});

test(verifies('shadow:no-effect', 'a shadow policy changes no decision and no list'), async () => {
  await fc.assert(
    fc.asyncProperty(shadows, fc.option(shadows), calls, async (shadowed, before, call) => {
      const { real, without } = await configurationsOf(shadowed, before);
      const [with_, plain] = [decideAny(real, call), decideAny(without, call)];
      expect(said(with_.listed)).toEqual(said(plain.listed));
      expect(said(with_.called)).toEqual(said(plain.called));
      expect(said(readOf(real, call))).toEqual(said(readOf(without, call)));
      expect(plain.listed.shadow).toBeUndefined();
    }),
    { numRuns: 200 },
  );
});

function readOf(configuration: Configuration, { tool, chain }: AnyCall): Decision {
  return compilePolicy(configuration, chain).decideRead('hub', `prompt:${tool}`);
}
