import type { PolicyRule, RuleEffect } from '../../../domain/index.ts';
import { findRepeats } from '../../files/find-repeats.ts';
import { child, type SourceEntry, type SourceMap, type SourceNode } from '../../files/source-tree.ts';
import { dotted, type Finding, quote } from '../../findings.ts';
import {
  type ClientFileRules,
  createRulesWithPrefix,
  mostEntries,
  type RulesWithPrefix,
} from '../../restrictions/rules-with-prefix.ts';

/** OpenCode's rules on tools, from `tools` and `permission`, for all agents and for single ones. */
export interface OpencodeRules {
  readonly rules: readonly PolicyRule[];
  readonly agents: ReadonlyMap<string, readonly PolicyRule[]>;
  /** Entries that cannot be understood, so their restrictions are unknown. */
  readonly findings: readonly Finding[];
}

/** General rules come first and an agent's own rules after them, because the last match decides. */
export function readOpencodeRules(root: SourceNode, file: string): OpencodeRules {
  const findings: Finding[] = [...findRepeats(root, readPaths)];
  const rules = rulesIn(root, '', file, findings);
  const agents = new Map<string, readonly PolicyRule[]>();
  let count = rules.length;
  for (const section of ['agent', 'agents', 'mode']) {
    const node = child(root, section);
    for (const { key, value } of node?.kind === 'map' ? node.entries : []) {
      const own = rulesIn(value, dotted(section, key), file, findings);
      count += own.length;
      if (own.length > 0 && count <= mostEntries) agents.set(key, [...(agents.get(key) ?? rules), ...own]);
    }
  }
  // An agent's list begins with the general one.
  if (count > mostEntries) findings.unshift(tooMany(root.line));
  return { rules, agents, findings };
}

const readPaths = [['tools'], ['permission'], ['agent'], ['agents'], ['mode']];

function tooMany(line: number): Finding {
  const message = `there are more than ${mostEntries} rules in "tools", "permission" and the agents.`;
  return { severity: 'error', line, message, fix: 'Write fewer, with patterns.' };
}

/** The rules for the server with this key. */
export function createOpencodeRulesFor(settings: ClientFileRules): RulesWithPrefix {
  const rulesFor = createRulesWithPrefix(settings);
  return (key) => rulesFor(`${key.replace(/[^a-zA-Z0-9_-]/g, '_')}_`);
}

function rulesIn(node: SourceNode | undefined, field: string, file: string, findings: Finding[]): PolicyRule[] {
  return [
    ...readSection(node, 'tools', { field, file, findings }),
    ...readSection(node, 'permission', { field, file, findings }),
  ];
}

interface Section {
  readonly field: string;
  readonly file: string;
  readonly findings: Finding[];
}

function readSection(node: SourceNode | undefined, key: 'tools' | 'permission', section: Section): PolicyRule[] {
  const value = child(node, key);
  if (value === undefined) return [];
  const entries = value.kind === 'map' ? value.entries.flatMap(unwrapped) : [{ key: '*', line: value.line, value }];
  return entries.flatMap((entry) => {
    const effect = effectOf(entry, key);
    if (effect !== undefined) return toRule(entry, effect, section.file);
    const at = dotted(section.field, key, entry.key);
    section.findings.push({
      severity: 'error',
      line: entry.line,
      field: at,
      message: `${quote(at)} is not recognized and may be a restriction.`,
      fix: key === 'tools' ? 'Write true or false.' : 'Write "allow", "ask" or "deny".',
    });
    return [];
  });
}

/** `mcp` holds rules on the tools of all servers. */
function unwrapped(entry: SourceEntry): readonly SourceEntry[] {
  if (entry.key !== 'mcp') return [entry];
  if (entry.value.kind === 'map') return entry.value.entries;
  // For all tools it would lift denials before it.
  return entry.value.kind === 'scalar' && entry.value.text === 'allow' ? [] : [{ ...entry, key: '*' }];
}

/** A map of conditions counts as its strictest one: conditions are about arguments, which rules here do not examine. */
function effectOf({ value }: SourceEntry, key: 'tools' | 'permission'): RuleEffect | undefined {
  if (value.kind === 'map') return strictestIn(value, key);
  if (value.kind !== 'scalar') return undefined;
  if (key === 'tools') return value.value === true ? 'allow' : value.value === false ? 'deny' : undefined;
  return effects.get(value.text);
}

function strictestIn(conditions: SourceMap, key: 'tools' | 'permission'): RuleEffect | undefined {
  const found = conditions.entries.map((entry) => effectOf(entry, key));
  if (found.includes(undefined)) return undefined;
  return (['deny', 'require-approval'] as const).find((effect) => found.includes(effect)) ?? 'allow';
}

const effects: ReadonlyMap<string, RuleEffect> = new Map([
  ['allow', 'allow'],
  ['ask', 'require-approval'],
  ['deny', 'deny'],
]);

/**
 * `?` stands for one character there and becomes `*` here, which matches more names. A wider rule that allows would give
 * more than was written, so it is dropped; a wider one that asks could lift a denial before it, so it denies.
 */
function toRule({ key, line }: SourceEntry, effect: RuleEffect, file: string): PolicyRule[] {
  const source = { file, line };
  if (!key.includes('?')) return [{ pattern: key, effect, source }];
  return effect === 'allow' ? [] : [{ pattern: key.replaceAll('?', '*'), effect: 'deny', source }];
}
