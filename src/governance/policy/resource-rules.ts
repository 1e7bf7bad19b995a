import type { PolicyRule, ToolPolicy } from '../../domain/index.ts';
import { createPatternIndex } from './pattern-index.ts';
import { resourcePrefix } from './reading-name.ts';
import { splitToolName } from './tool-name.ts';
import { entryForms } from './uri-forms.ts';
import { isPattern } from './wildcard.ts';

/** The rules of one map that deny resources or want approval for them, by the normal forms of their URIs. */
export interface ResourceRules {
  readonly isEmpty: boolean;
  /** Calls `see` for each rule that speaks of a URI with this form. */
  visit(server: string, form: string, see: (rule: PolicyRule) => void): void;
}

export function createResourceRules(policy: ToolPolicy, servers: { has(name: string): boolean }): ResourceRules {
  const exact = new Map<string, PolicyRule[]>();
  const patterns = createPatternIndex<PolicyRule>();
  let isEmpty = true;
  for (const rule of policy.rules) {
    if (rule.effect === 'allow') continue;
    if (isPattern(rule.pattern)) {
      for (const pattern of loosePatterns(rule.pattern)) patterns.add(pattern, rule);
      isEmpty = false;
      continue;
    }
    const name = splitToolName(rule.pattern, servers);
    if (name === undefined || !name.tool.startsWith(resourcePrefix)) continue;
    isEmpty = false;
    for (const form of entryForms(name.tool.slice(resourcePrefix.length)).loose) {
      const key = subjectOf(name.server, form);
      exact.set(key, [...(exact.get(key) ?? []), rule]);
    }
  }
  return {
    isEmpty,
    visit(server, form, see) {
      const subject = subjectOf(server, form);
      for (const rule of exact.get(subject) ?? []) see(rule);
      patterns.visit(subject, see);
    },
  };
}

function subjectOf(server: string, form: string): string {
  return `${server}.${resourcePrefix}${form}`;
}

/** A pattern need not say `resource:`; then it is held against the forms as it is, and in small letters as they are. */
function loosePatterns(pattern: string): readonly string[] {
  const at = pattern.indexOf(resourcePrefix);
  if (at < 0) return pattern.startsWith('*') ? [...new Set([pattern, pattern.toLowerCase()])] : [pattern];
  const start = pattern.slice(0, at + resourcePrefix.length);
  return entryForms(pattern.slice(start.length)).loose.map((form) => start + form);
}
