import { allHold, type CallToDecide, type Holds, RuleCondition } from '../../domain/index.ts';
import { compileFnmatch } from '../rules/fnmatch.ts';
import type { ArgumentMatch } from './permission-schema.ts';

/** `args_match` of a context rule. Undefined if it cannot be compiled. */
export function compileArgsMatch(written: Readonly<Record<string, ArgumentMatch>>): RuleCondition | undefined {
  const tests: { readonly name: string; readonly test: ArgumentTest }[] = [];
  for (const [name, match] of Object.entries(written)) {
    const test = compileTest(name, match);
    if (test === undefined) return undefined;
    tests.push({ name, test });
  }
  return new RuleCondition(`args_match ${JSON.stringify(written)}`, (call) =>
    allHold(tests, ({ name, test }) => (Object.hasOwn(call.args, name) ? test(call.args[name], call) : false)),
  );
}

type ArgumentTest = (value: unknown, call: CallToDecide) => Holds;

/** A value of another type is not compared: a server may take it for one of the right type. */
function compileTest(name: string, match: ArgumentMatch): ArgumentTest | undefined {
  if (typeof match === 'string') return textTest(name, match);
  if (typeof match !== 'object') return (value) => (typeof value === typeof match ? value === match : 'unknown');
  const { less_than: below, greater_than: above } = match;
  if (below === undefined && above === undefined) return undefined;
  return (value) => {
    if (typeof value !== 'number') return 'unknown';
    return (below === undefined || value < below) && (above === undefined || value > above);
  };
}

/** `/tmp/*` also fits `/tmp/../etc`, so a path is compared as it is resolved, or not at all. */
function textTest(name: string, pattern: string): ArgumentTest | undefined {
  const matches = compileFnmatch(pattern);
  if (matches === undefined) return undefined;
  return (value, { paths }) => {
    if (typeof value !== 'string') return 'unknown';
    return paths?.matchesGlob(name, value, matches) ?? (leadsUp.test(value) ? 'unknown' : matches(value));
  };
}

const leadsUp = /(?:^|[\\/])\.\.(?:[\\/]|$)|%2e|%2f|%5c/i;
