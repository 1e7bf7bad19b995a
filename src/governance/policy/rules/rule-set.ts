import type { CallToDecide, PolicyRule, ToolPolicy } from '../../../domain/index.ts';
import { readClasses, type ToolClasses } from '../tool-class.ts';
import { perForms, perTemplate, type ReadSubject, type UriTemplateForm } from '../uris/read-subject.ts';
import { createResourceRules } from '../uris/resource-rules.ts';
import type { UriForms } from '../uris/uri-forms.ts';
import { createConditionalRules } from './conditional-rules.ts';
import { judgeLists, leastStrict } from './judge-lists.ts';
import { createPlainRules } from './plain-rules.ts';
import { stricterRule } from './strictness.ts';

/** One compiled set of rules. */
export interface RuleSet {
  on(server: string, tool: string, classes: ToolClasses): RulesOnTool;
  /**
   * The deciding rule on a resource or prompt. A rule that denies a URI, or requires approval for it, applies to all its
   * normal forms. A read has no arguments: a rule that looks at calls applies if it restricts.
   */
  findRead(server: string, read: ReadSubject): PolicyRule | undefined;
}

/** What one set says about one tool. */
export interface RulesOnTool {
  /** The least strict rule that some call could meet. Undefined if a call could meet none. */
  readonly widest: PolicyRule | undefined;
  /** Undefined if every call is decided alike. */
  readonly given: ((call: CallToDecide) => PolicyRule | undefined) | undefined;
}

/**
 * An exact rule beats patterns. The strictest pattern wins, and of equals the one written first. If the name of an
 * exact rule fits tools of several servers, the rule restricts all of them, and neither allows one nor lifts a pattern.
 */
export function compileRuleSet(policy: ToolPolicy, servers: { has(name: string): boolean }): RuleSet {
  const plain = createPlainRules(policy, servers);
  const conditional = createConditionalRules(policy, servers);
  const resources = createResourceRules(policy, servers);
  const urisOf = new Map<string, UriRules>();

  function findForRead(server: string, subject: string): PolicyRule | undefined {
    return judgeLists(plain.find(server, subject), conditional.on(server, subject, readClasses), () => 'unknown');
  }

  function strictestOnForms(server: string, { loose }: UriForms): PolicyRule | undefined {
    let best: PolicyRule | undefined;
    for (const form of loose) {
      resources.visit(server, form, (rule) => {
        best = stricterRule(best, rule);
      });
    }
    return best;
  }

  function uriRules(server: string): UriRules {
    let rules = urisOf.get(server);
    if (rules === undefined) {
      rules = {
        onForms: perForms((forms) => strictestOnForms(server, forms)),
        onTemplate: perTemplate((template) => findForRead(server, template)),
      };
      urisOf.set(server, rules);
    }
    return rules;
  }

  return {
    on(server, tool, classes) {
      const always = plain.find(server, tool);
      const lists = conditional.on(server, tool, classes);
      if (lists.length === 0) return { widest: always?.rule, given: undefined };
      const looks = lists.some(({ clauses }) => clauses.some(({ condition }) => condition !== undefined));
      return {
        widest: leastStrict(always, lists),
        given: looks ? (call) => judgeLists(always, lists, (rule) => rule.condition?.holds(call) ?? true) : undefined,
      };
    },
    findRead(server, read) {
      const best = findForRead(server, read.subject);
      // A rule for this exact spelling wins.
      if (!resources.concern(server) || plain.names(server, read.subject)) return best;
      const { onForms, onTemplate } = uriRules(server);
      const onUri = read.forms === undefined ? best : stricterRule(best, onForms(read.forms));
      return onUri?.effect === 'deny' ? onUri : stricterRule(onUri, strictestOnTemplate(read, onTemplate));
    },
  };
}

/** The rules of one set on resources of one server. */
interface UriRules {
  readonly onForms: (forms: UriForms) => PolicyRule | undefined;
  readonly onTemplate: RuleOnTemplate;
}

type RuleOnTemplate = (template: UriTemplateForm) => PolicyRule | undefined;

/** The strictest rule on a template that the URI matches. */
function strictestOnTemplate(read: ReadSubject, ruleOf: RuleOnTemplate): PolicyRule | undefined {
  for (const effect of ['deny', 'require-approval'] as const) {
    let rule: PolicyRule | undefined;
    const fits = read.fitsTemplate((template) => {
      rule = ruleOf(template);
      return rule?.effect === effect;
    });
    if (fits) return rule;
  }
  return undefined;
}
