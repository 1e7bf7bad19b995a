import { compileNameOrPattern, type PolicyRule, type RuleEffect } from '../../../domain/index.ts';
import { findRepeats } from '../../files/find-repeats.ts';
import { child, entryOf, type SourceEntry, type SourceNode } from '../../files/source-tree.ts';
import { dotted, type Finding, quote } from '../../findings.ts';
import { looksRestrictive, restrictionRole } from '../../restrictions/restriction-words.ts';
import { mostEntries } from '../../restrictions/rules-with-prefix.ts';
import { textAt, textsAt } from '../../texts.ts';

/** Amp's rules on tools and on servers. */
export interface AmpRules {
  /** On tools, by Amp's names for them. The last that matches decides. */
  readonly rules: readonly PolicyRule[];
  /** Tools that are disabled by their servers' names for them. */
  readonly plain: readonly PolicyRule[];
  /** Whether the server in this node may be used. */
  permits(server: SourceNode): boolean;
  /** Entries that cannot be understood, so their restrictions are unknown. */
  readonly findings: readonly Finding[];
}

export function readAmpRules(root: SourceNode, file: string): AmpRules {
  const findings: Finding[] = [...findRepeats(root, readPaths)];
  const permissions = itemsIn(root, 'amp.permissions', findings).flatMap((item, index) =>
    readPermission(item, file, { field: dotted('amp.permissions', index), findings }),
  );
  const disabled = itemsIn(root, 'amp.tools.disable', findings).flatMap((item, index): PolicyRule[] => {
    const rule = { effect: 'deny', source: { file, line: item.line } } as const;
    if (item.kind === 'scalar' && !isExpression(item.text)) return [{ pattern: item.text, ...rule }];
    notUnderstood(item, { field: dotted('amp.tools.disable', index), findings });
    return [];
  });
  for (const entry of root.kind === 'map' ? root.entries.filter(isUnread) : []) {
    notUnderstood(entry.value, { field: entry.key, findings });
  }
  const matchers = itemsIn(root, 'amp.mcpPermissions', findings).flatMap((item, index) =>
    readMatcher(item, { field: dotted('amp.mcpPermissions', index), findings }),
  );
  return {
    // In Amp the first rule that matches decides.
    rules: [...permissions.reverse(), ...disabled],
    plain: disabled.filter(({ pattern }) => !/^(?:mcp__|builtin:)/.test(pattern)),
    permits: (server) => matchers.find(({ matches }) => matches(server))?.action !== 'reject',
    findings,
  };
}

const readPaths = [['amp.permissions'], ['amp.tools.disable'], ['amp.mcpPermissions']];

interface Report {
  readonly field: string;
  readonly findings: Finding[];
}

function itemsIn(root: SourceNode, key: string, findings: Finding[]): readonly SourceNode[] {
  const entry = entryOf(root, key);
  if (entry === undefined) return [];
  if (entry.value.kind === 'list' && entry.value.items.length <= mostEntries) return entry.value.items;
  notUnderstood(entry.value, { field: key, findings });
  return [];
}

function notUnderstood({ line }: SourceNode, { field, findings }: Report): void {
  const message = `${quote(field)} is not recognized and may be a restriction.`;
  const fix = 'Write it as a rule in quartermaster.yaml, under policies, and remove it here.';
  findings.push({ severity: 'error', line, field, message, fix });
}

/**
 * A rule with conditions on the arguments or the context counts as if they were met, unless it allows: then it says
 * nothing.
 */
function readPermission(item: SourceNode, file: string, report: Report): PolicyRule[] {
  const pattern = textAt(item, 'tool');
  const effect = effects.get(textAt(item, 'action') ?? '');
  const isUnclear = pattern !== undefined && isExpression(pattern);
  if (pattern !== undefined && (isUnclear ? effect === 'allow' : !mayBeMcp(pattern))) return [];
  if (pattern === undefined || effect === undefined || isUnclear) {
    notUnderstood(item, report);
    return [];
  }
  const hasCondition = child(item, 'matches') !== undefined || child(item, 'context') !== undefined;
  return hasCondition && effect === 'allow' ? [] : [{ pattern, effect, source: { file, line: item.line } }];
}

/** Amp calls the tools of servers `mcp__server__tool`. */
function mayBeMcp(pattern: string): boolean {
  const literal = pattern.split('*', 1)[0] ?? '';
  return pattern.includes('*')
    ? literal.startsWith('mcp__') || 'mcp__'.startsWith(literal)
    : literal.startsWith('mcp__');
}

const effects: ReadonlyMap<string, RuleEffect> = new Map([
  ['allow', 'allow'],
  ['ask', 'require-approval'],
  ['reject', 'deny'],
]);

interface Matcher {
  readonly action: 'allow' | 'reject';
  matches(server: SourceNode): boolean;
}

/** `{ "matches": { "command": "npx", "args": "*" }, "action": "allow" }`. */
function readMatcher(item: SourceNode, report: Report): Matcher[] {
  const action = textAt(item, 'action');
  const conditions = child(item, 'matches');
  const isPlain =
    conditions?.kind === 'map' &&
    conditions.entries.every(
      ({ key, value }) => Object.hasOwn(readers, key) && value.kind === 'scalar' && !isExpressionFor(key, value.text),
    );
  if ((action !== 'allow' && action !== 'reject') || conditions?.kind !== 'map' || !isPlain) {
    notUnderstood(item, report);
    return [];
  }
  const tests = conditions.entries.map(({ key, value }) => {
    const fits = compileNameOrPattern(value.kind === 'scalar' ? value.text : '');
    const readText = readers[key as keyof typeof readers]; // checked above
    const isWhole = action === 'reject' || (value.kind === 'scalar' && value.text.includes(' '));
    return (server: SourceNode): boolean => readText(server, isWhole).some(fits);
  });
  return [{ action, matches: (server) => tests.every((test) => test(server)) }];
}

/** The texts of a server that a condition is compared with. `isWhole`: also in the other ways in which it may be meant. */
const readers = {
  command: (server: SourceNode, isWhole: boolean): readonly string[] => {
    const command = textAt(server, 'command');
    if (command === undefined) return [];
    return isWhole ? [command, [command, ...(textsAt(server, 'args') ?? [])].join(' ')] : [command];
  },
  args: (server: SourceNode): readonly string[] =>
    textAt(server, 'command') === undefined ? [] : [(textsAt(server, 'args') ?? []).join(' ')],
  url: (server: SourceNode, isWhole: boolean): readonly string[] => {
    const url = textAt(server, 'url');
    if (url === undefined) return [];
    return isWhole && URL.canParse(url) ? [url, new URL(url).href] : [url];
  },
};

/** A regular expression, or a pattern with more than stars. */
function isExpression(text: string): boolean {
  return (text.length > 1 && text.startsWith('/') && text.endsWith('/')) || /[?{}[\]]/.test(text);
}

/** In an address, most of these characters stand for themselves. */
function isExpressionFor(key: string, text: string): boolean {
  return isExpression(key === 'url' ? text.replaceAll('?', '') : text);
}

/** Other keys for rules on tools or servers. `amp` as a map would hold the same ones. */
function isUnread({ key, value }: SourceEntry): boolean {
  if (key === 'amp')
    return value.kind === 'map' && value.entries.some((inner) => /^(?:tools|mcp|perm)/.test(inner.key));
  if (readPaths.some(([read]) => read === key)) return false;
  const [, rest] = /^amp\.(?:tools|mcp|permission)[^.]*\.?(.*)$/.exec(key) ?? [];
  return rest !== undefined && (restrictionRole(rest) !== undefined || looksRestrictive(key));
}
