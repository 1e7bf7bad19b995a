import type { PolicyRule, SourceRef, ToolPolicy } from '../../domain/index.ts';
import { child, entryOf, type SourceEntry, type SourceNode } from '../files/source-tree.ts';
import { dotted, type Finding, quote } from '../findings.ts';
import type { Mention } from '../readers/reader.ts';
import { readClauses } from '../rules/read-clauses.ts';
import { textAt } from '../texts.ts';

export interface ReadPolicy {
  readonly policy: ToolPolicy | undefined;
  /** Rules that are tried in place of `policy`. */
  readonly shadow: ToolPolicy | undefined;
  readonly findings: readonly Finding[];
  readonly mentions: readonly Mention[];
}

interface PolicyPlace {
  readonly file: string;
  readonly field: string;
  readonly subject: string;
}

/** Reads the rules of a `policies` section whose shape has been checked. */
export function readPolicy(section: SourceNode, place: PolicyPlace): ReadPolicy {
  const tried = entryOf(section, 'shadow');
  if (textAt(section, 'mode') === 'shadow') {
    const { policy: shadow, findings, mentions } = readRules(section, place);
    const both = tried === undefined ? [] : [twoShadows(tried, place)];
    return { policy: undefined, shadow, findings: [...findings, ...both], mentions };
  }
  const own = readEnforced(section, place);
  if (tried === undefined) return { ...own, shadow: undefined };
  const subject = `${place.subject}, shadow`;
  const shadow = readRules(tried.value, { ...place, field: dotted(place.field, 'shadow'), subject });
  return {
    policy: own.policy,
    shadow: shadow.policy,
    findings: [...own.findings, ...shadow.findings],
    mentions: [...own.mentions, ...shadow.mentions],
  };
}

/** The rules of a section without modes. */
export function readEnforced(section: SourceNode, place: PolicyPlace): Omit<ReadPolicy, 'shadow'> {
  const read = readRules(section, place);
  return { ...read, policy: read.policy.rules.length === 0 ? undefined : read.policy };
}

type ReadRules = Pick<ReadPolicy, 'findings' | 'mentions'> & { readonly policy: ToolPolicy };

function readRules(section: SourceNode, place: PolicyPlace): ReadRules {
  const findings: Finding[] = [];
  const mentions: Mention[] = [];
  const rules: PolicyRule[] = [];
  const tools = child(section, 'tools');
  for (const entry of tools?.kind === 'map' ? tools.entries : []) {
    const { key, line } = entry;
    const field = dotted(place.field, 'tools', key);
    if (key !== '*' && !key.includes('.')) findings.push(notAPattern(entry, field, place.subject));
    else mentions.push({ kind: 'pattern', text: key, line, field, subject: place.subject });
    const clauses = readClauses(entry, { file: place.file, field, subject: place.subject });
    rules.push(...clauses.rules);
    findings.push(...clauses.findings);
  }
  const destructive = entryOf(section, 'destructive');
  if (destructive !== undefined) rules.push(destructiveRule(destructive, place.file));
  return { policy: { source: { file: place.file, line: section.line }, rules }, findings, mentions };
}

function twoShadows({ line }: SourceEntry, { field, subject }: PolicyPlace): Finding {
  return {
    severity: 'error',
    line,
    field: dotted(field, 'shadow'),
    message: `${subject}: with "mode: shadow" all its rules are tried already, so "shadow" cannot be set too.`,
    fix: 'Remove one of the two.',
  };
}

/** Replaces rules that cannot be read: their restrictions are unknown, so everything is denied. */
export function denyEverything(source: SourceRef): ToolPolicy {
  return { source, rules: [{ pattern: '*', effect: 'deny', source }] };
}

export function deniesEverything({ rules }: ToolPolicy): boolean {
  const [rule, ...others] = rules;
  return rule?.pattern === '*' && rule.effect === 'deny' && others.length === 0;
}

function notAPattern(entry: SourceEntry, field: string, subject: string): Finding {
  return {
    severity: 'error',
    line: entry.line,
    field,
    message: `${subject}: ${quote(entry.key)} is not server.tool.`,
    fix: `Write "server.${entry.key}", or "*.${entry.key}" for every server.`,
  };
}

/** `destructive: ask` is a pattern like any other, so a rule with the tool's exact name lifts it. */
function destructiveRule({ line, value }: SourceEntry, file: string): PolicyRule {
  const asks = value.kind === 'scalar' && value.value === 'ask';
  return { pattern: '*', effect: asks ? 'require-approval' : 'deny', kind: 'destructive', source: { file, line } };
}
