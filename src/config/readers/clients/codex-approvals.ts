import type { ClientRules, PolicyRule, RuleEffect } from '../../../domain/index.ts';
import { entryOf, type SourceEntry, type SourceNode } from '../../files/source-tree.ts';
import { dotted, type Finding, quote } from '../../findings.ts';
import { looksRestrictive, restrictionRole } from '../../restrictions/restriction-words.ts';
import type { ServerPlace } from '../../servers/server-draft.ts';

/** The hub requires approval where Codex does: `default_tools_approval_mode`, and `tools` for single tools. */
export function readApprovals(node: SourceNode, findings: Finding[], place: ServerPlace): ClientRules | undefined {
  const rules: PolicyRule[] = [];
  const add = (pattern: string, entry: SourceEntry, effect: RuleEffect | undefined, field: string): void => {
    if (effect === undefined) findings.push(notUnderstood(place, field, entry.line));
    else rules.push({ pattern, effect, source: { file, line: entry.line } });
  };
  const byDefault = entryOf(node, 'default_tools_approval_mode');
  if (byDefault !== undefined) add('*', byDefault, modeOf(byDefault), 'default_tools_approval_mode');
  const section = entryOf(node, 'tools');
  const tools = section?.value;
  if (section !== undefined && tools?.kind !== 'map') findings.push(notUnderstood(place, 'tools', section.line));
  for (const tool of tools?.kind === 'map' ? tools.entries : []) {
    const found: { readonly entry: SourceEntry; readonly effect: RuleEffect }[] = [];
    for (const entry of tool.value.kind === 'map' ? tool.value.entries : [tool]) {
      const field = entry === tool ? dotted('tools', tool.key) : dotted('tools', tool.key, entry.key);
      const effect = entry === tool ? undefined : effectOf(entry);
      if (effect === undefined) add(tool.key, entry, effect, field);
      else if (effect !== 'none') found.push({ entry, effect });
    }
    // One rule per tool, the strictest of its keys: the order of keys in a table means nothing.
    const strictest = strictness.flatMap((effect) => found.find((each) => each.effect === effect) ?? [])[0];
    // Codex knows no patterns here: a star asks for more approvals at most, and gives none.
    const isLoose = strictest?.effect === 'allow' && tool.key.includes('*');
    if (strictest !== undefined && !isLoose) add(tool.key, strictest.entry, strictest.effect, '');
  }
  return rules.some(({ effect }) => effect !== 'allow') ? { prefix: '', rules, agents: new Map() } : undefined;
}

const strictness: readonly RuleEffect[] = ['deny', 'require-approval', 'allow'];

const file = '.codex/config.toml';

function effectOf(entry: SourceEntry): RuleEffect | 'none' | undefined {
  const { key, value } = entry;
  if (key === 'approval_mode') return modeOf(entry);
  const role = restrictionRole(key);
  if (role === 'on' || role === 'off') {
    if (value.kind !== 'scalar' || typeof value.value !== 'boolean') return undefined;
    return value.value === (role === 'off') ? 'deny' : 'none';
  }
  return role === undefined && !looksRestrictive(key) ? 'none' : undefined;
}

function modeOf({ value }: SourceEntry): RuleEffect | undefined {
  return value.kind === 'scalar' ? modes.get(value.text) : undefined;
}

const modes: ReadonlyMap<string, RuleEffect> = new Map([
  ['auto', 'allow'],
  ['approve', 'allow'],
  ['prompt', 'require-approval'],
]);

function notUnderstood({ name, field }: ServerPlace, key: string, line: number): Finding {
  return {
    severity: 'error',
    line,
    field: dotted(field, key),
    server: name,
    message: `Server ${quote(name)}: ${quote(key)} is not recognized and may be a restriction.`,
    fix: 'Write "auto", "approve" or "prompt"; or a rule in quartermaster.yaml, under policies.',
  };
}
