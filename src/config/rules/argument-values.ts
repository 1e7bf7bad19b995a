import { isJsonObject } from '../../base/index.ts';
import type { CallArguments } from '../../domain/index.ts';

/** A value that an argument has; or none, if it is missing or null; or one that cannot be found as the rule expects. */
export type FoundValue =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unexpected' };

export type ArgumentName = readonly string[];

/** `a.b` is a member, `a.*` every item of a list. Undefined if it names nothing. */
export function parseArgumentName(text: string): ArgumentName | undefined {
  const steps = text.split('.');
  return steps.some((step) => step === '') || steps[0] === '*' ? undefined : steps;
}

export function valuesOf(args: CallArguments, name: ArgumentName): readonly FoundValue[] {
  let found: FoundValue[] = [{ kind: 'value', value: args }];
  for (const step of name) found = found.flatMap((each) => (each.kind === 'value' ? follow(each.value, step) : each));
  return found;
}

function follow(value: unknown, step: string): FoundValue[] {
  if (step === '*') return Array.isArray(value) ? value.map(toFound) : [{ kind: 'unexpected' }];
  if (!isJsonObject(value)) return [{ kind: 'unexpected' }];
  return [Object.hasOwn(value, step) ? toFound(value[step]) : { kind: 'missing' }];
}

function toFound(value: unknown): FoundValue {
  return value === null || value === undefined ? { kind: 'missing' } : { kind: 'value', value };
}
