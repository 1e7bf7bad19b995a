import { compileWildcard, isPattern, type PolicyRule, type ToolPolicy } from '../../../domain/index.ts';
import { createPatternIndex } from '../rules/pattern-index.ts';
import { appliesToClass, readClasses } from '../tool-class.ts';
import { splitsOfToolName } from '../tool-name.ts';
import { resourcePrefix } from './read-name.ts';
import { entryForms } from './uri-forms.ts';

/** The rules of one set that deny resources or require approval for them, by the normal forms of their URIs. */
export interface ResourceRules {
  /** Whether a rule can match a resource of that server. */
  concern(server: string): boolean;
  /** Calls `see` for each rule on a URI with this form. */
  visit(server: string, form: string, see: (rule: PolicyRule) => void): void;
}

export function createResourceRules(policy: ToolPolicy, servers: { has(name: string): boolean }): ResourceRules {
  const exact = new Map<string, PolicyRule[]>();
  const patterns = createPatternIndex<PolicyRule>();
  /** What the subjects begin with that a rule may match. */
  const starts = new Set<string>();
  const concerned = new Map<string, boolean>();
  for (const rule of policy.rules) {
    if (rule.effect === 'allow' || !appliesToClass(rule, readClasses)) continue;
    if (isPattern(rule.pattern)) {
      for (const pattern of loosePatterns(rule.pattern)) {
        patterns.add(pattern, rule);
        starts.add(compileWildcard(pattern).prefix);
      }
      continue;
    }
    for (const { server, tool } of splitsOfToolName(rule.pattern, servers)) {
      if (!tool.startsWith(resourcePrefix)) continue;
      starts.add(subjectOf(server, ''));
      for (const form of entryForms(tool.slice(resourcePrefix.length)).loose) {
        const key = subjectOf(server, form);
        exact.set(key, [...(exact.get(key) ?? []), rule]);
      }
    }
  }
  return {
    concern(server) {
      let isConcerned = concerned.get(server);
      if (isConcerned === undefined) {
        const own = subjectOf(server, '');
        isConcerned = [...starts].some((start) => start.startsWith(own) || own.startsWith(start));
        concerned.set(server, isConcerned);
      }
      return isConcerned;
    },
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

/** A pattern without `resource:` is compared with the forms as written, and in lower case like them. */
function loosePatterns(pattern: string): readonly string[] {
  const at = pattern.indexOf(resourcePrefix);
  if (at < 0) return pattern.startsWith('*') ? [...new Set([pattern, pattern.toLowerCase()])] : [pattern];
  const start = pattern.slice(0, at + resourcePrefix.length);
  return entryForms(pattern.slice(start.length)).loose.map((form) => start + form);
}
