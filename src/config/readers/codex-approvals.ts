import type { ClientRules, PolicyRule, RuleEffect } from '../../domain/index.ts';
import { dotted, type Finding, quote } from '../problems.ts';
import { looksRestrictive, restrictionRole } from '../restriction-words.ts';
import type { ServerPlace } from '../server-draft.ts';
import { entryOf, type SourceEntry, type SourceNode } from '../source-tree.ts';

/** Where Codex asks a person, so does the hub: `default_tools_approval_mode`, and `tools` for single ones. */
export function readApprovals(node: SourceNode, findings: Finding[], place: ServerPlace): ClientRules | undefined {
  const rules: PolicyRule[] = [];
  const add = (pattern: string, entry: SourceEntry, effect: RuleEffect | undefined, field: string): void => {
    if (effect === undefined) findings.push(notUnderstood(place, field, entry.line));
    else rules.push({ pattern, effect, source: { file, line: entry.line } });
  };
  const byDefault = entryOf(node, 'default_tools_approval_mode');
  if (byDefault !== undefined) add('*', byDefault, modeOf(byDefault), 'default_tools_approval_mode');
  const tools = entryOf(node, 'tools')?.value;
  for (const tool of tools?.kind === 'map' ? tools.entries : []) {
    for (const entry of tool.value.kind === 'map' ? tool.value.entries : [tool]) {
      const field = entry === tool ? dotted('tools', tool.key) : dotted('tools', tool.key, entry.key);
      const effect = entry === tool ? undefined : effectOf(entry);
      if (effect !== 'none') add(tool.key, entry, effect, field);
    }
  }
  return rules.some(({ effect }) => effect !== 'allow') ? { prefix: '', rules, agents: new Map() } : undefined;
}

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
    message: `Server ${quote(name)}: ${quote(key)} is not understood, and may keep something from agents.`,
    fix: 'Write "auto", "approve" or "prompt"; or a rule in quartermaster.yaml, under policies.',
  };
}
