import { RedactionRule, type ResultSettings, untrustedContent } from '../../domain/index.ts';
import { child, lineAt, type SourceNode } from '../files/source-tree.ts';
import { dotted, type Finding, quote } from '../findings.ts';
import { compileLinearReplacement } from '../rules/linear-pattern.ts';
import { readLabels } from '../rules/read-labels.ts';
import { booleanAt, textAt } from '../texts.ts';
import type { ServerPlace } from './server-draft.ts';

/** Reads `results` of a server, whose shape has been checked. Undefined if nothing is changed in its results. */
export function readResults(
  node: SourceNode,
  findings: Finding[],
  { name, field }: ServerPlace,
): ResultSettings | undefined {
  const results = child(node, 'results');
  const rules = child(results, 'redact');
  const redact = (rules?.kind === 'list' ? rules.items : []).flatMap((item, index) => {
    const regex = textAt(item, 'regex');
    const replacement = textAt(item, 'with') ?? '[redacted]';
    if (regex === undefined) return [];
    const replace = compileLinearReplacement(regex, replacement);
    if (replace !== undefined) return [new RedactionRule(regex, replacement, replace)];
    findings.push({
      severity: 'error',
      line: lineAt(item, ['regex']),
      field: dotted(field, 'results', 'redact', index, 'regex'),
      server: name,
      message: `Server ${quote(name)}: the expression is not valid RE2, or matches the empty text.`,
      fix: 'RE2 has no look-around and no back-references. Write an expression that matches at least one character.',
    });
    return [];
  });
  const delimit = booleanAt(results, 'delimit') ?? false;
  if (delimit && !hasUntrusted(node)) {
    findings.push({
      severity: 'warning',
      line: lineAt(results ?? node, ['delimit']),
      field: dotted(field, 'results', 'delimit'),
      server: name,
      message: `Server ${quote(name)}: "delimit" has no effect, because nothing of the server is labelled ${untrustedContent}.`,
      fix: `Add labels: [${untrustedContent}], or remove "delimit".`,
    });
  }
  return redact.length === 0 && !delimit ? undefined : { redact, delimit };
}

function hasUntrusted(node: SourceNode): boolean {
  const labels = readLabels(child(node, 'labels'));
  return labels !== undefined && [labels.all, ...labels.tools.values()].some((each) => each.includes(untrustedContent));
}
