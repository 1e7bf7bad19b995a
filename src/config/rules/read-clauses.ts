import type { PolicyRule, RuleEffect } from '../../domain/index.ts';
import { lineAt, type SourceEntry, type SourceNode, toPlain } from '../files/source-tree.ts';
import { dotted, type Finding, quote } from '../findings.ts';
import { compileCondition } from './compile-condition.ts';
import { clauseSchema, ruleEffects } from './rule-schema.ts';

export interface ReadClauses {
  readonly rules: readonly PolicyRule[];
  readonly findings: readonly Finding[];
}

interface ClausePlace {
  readonly file: string;
  readonly field: string;
  readonly subject: string;
}

/**
 * Reads what is written under one pattern: an effect, a clause, or a list of clauses. The shape is checked elsewhere; a
 * clause of another shape denies.
 */
export function readClauses({ key: pattern, line, value }: SourceEntry, place: ClausePlace): ReadClauses {
  if (value.kind === 'scalar') {
    return { rules: [{ pattern, effect: effectOf(value), source: { file: place.file, line } }], findings: [] };
  }
  const nodes = value.kind === 'list' ? value.items : [value];
  const findings: Finding[] = [];
  const rules = nodes.map((node, index): PolicyRule => {
    const inList = value.kind === 'list';
    const at: SourceEntry = { key: pattern, line: inList ? node.line : line, value: node };
    const field = inList ? dotted(place.field, index) : place.field;
    const rule = readClause(at, { ...place, field }, findings);
    return index === 0 ? rule : { ...rule, otherwise: true };
  });
  return { rules, findings };
}

function readClause({ key: pattern, line, value }: SourceEntry, place: ClausePlace, findings: Finding[]): PolicyRule {
  const source = { file: place.file, line };
  const parsed = clauseSchema.safeParse(toPlain(value));
  if (!parsed.success) return { pattern, effect: 'deny', source };
  const { effect, when, kind, message, approvers } = parsed.data;
  if (when !== undefined && Object.keys(when).length === 0) findings.push(emptyWhen(value, place));
  const compiled = compileCondition(parsed.data);
  if (compiled.kind === 'wrong') {
    findings.push(wrongCondition(value, compiled, place));
    return { pattern, effect: 'deny', source };
  }
  if (approvers !== undefined && effect !== 'require-approval') findings.push(uselessApprovers(value, place));
  return {
    pattern,
    effect,
    source,
    ...(compiled.condition === undefined ? {} : { condition: compiled.condition }),
    ...(kind === undefined ? {} : { kind }),
    ...(message === undefined ? {} : { message }),
    ...(approvers === undefined ? {} : { approvers }),
  };
}

function wrongCondition(
  node: SourceNode,
  { key, why }: { readonly key: string; readonly why: string },
  { field, subject }: ClausePlace,
): Finding {
  return {
    severity: 'error',
    line: lineAt(node, ['when', key]),
    field: dotted(field, 'when', key),
    message: `${subject}: the condition on ${quote(key)} ${why}.`,
    fix: 'Correct the condition, or remove the clause.',
  };
}

/** A clause that allows would allow every call. */
function emptyWhen(node: SourceNode, { field, subject }: ClausePlace): Finding {
  return {
    severity: 'error',
    line: lineAt(node, ['when']),
    field: dotted(field, 'when'),
    message: `${subject}: "when" has no conditions.`,
    fix: 'Name an argument with a condition, or remove "when" if the clause applies to every call.',
  };
}

function uselessApprovers(node: SourceNode, { field, subject }: ClausePlace): Finding {
  return {
    severity: 'error',
    line: lineAt(node, ['approvers']),
    field: dotted(field, 'approvers'),
    message: `${subject}: "approvers" has a meaning only with effect: require-approval.`,
    fix: 'Change the effect, or remove "approvers".',
  };
}

function effectOf(node: SourceNode): RuleEffect {
  return ruleEffects.find((effect) => node.kind === 'scalar' && node.value === effect) ?? 'deny';
}
