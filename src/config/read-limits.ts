import type { ServerLimits } from '../domain/index.ts';
import { dotted, type Finding, quote } from './problems.ts';
import { completeLimits, type ServerPlace } from './server-draft.ts';
import { child, lineAt, type SourceNode } from './source-tree.ts';
import { numberAt } from './texts.ts';

/** The `limits` of a server: seconds of silence, seconds in all, calls a minute, calls at once, seconds of absence. */
export function readLimits(node: SourceNode, findings: Finding[], place: ServerPlace): ServerLimits {
  const limits = child(node, 'limits');
  const [timeoutMs, maxMs] = [millisecondsAt(limits, 'timeout_s'), millisecondsAt(limits, 'max_s')];
  if (timeoutMs !== undefined && maxMs !== undefined && timeoutMs > maxMs) {
    findings.push({
      severity: 'warning',
      line: lineAt(node, ['limits', 'max_s']),
      field: dotted(place.field, 'limits'),
      server: place.name,
      message: `Server ${quote(place.name)}: "max_s" is below "timeout_s" and ends each call first.`,
      fix: 'Raise max_s or lower timeout_s.',
    });
  }
  const concurrency = numberAt(limits, 'concurrency');
  const ratePerMin = readRate(node, findings, place);
  const graceMs = millisecondsAt(limits, 'grace_s');
  return completeLimits({ timeoutMs, maxMs, concurrency, ratePerMin, graceMs });
}

/** Calls in a minute, under any of its three names; where several are there they must agree. */
function readRate(node: SourceNode, findings: Finding[], place: ServerPlace): number | undefined {
  const limits = child(node, 'limits');
  const written = [numberAt(limits, 'rate_per_min'), numberAt(limits, 'rate_limit'), numberAt(node, 'rate_limit')];
  const rates = written.filter((rate) => rate !== undefined);
  if (new Set(rates).size > 1) {
    findings.push({
      severity: 'error',
      line: lineAt(node, ['limits']),
      field: dotted(place.field, 'limits'),
      server: place.name,
      message: `Server ${quote(place.name)}: "rate_limit" and "rate_per_min" mean the same and differ.`,
      fix: 'Keep one of them.',
    });
  }
  return rates[0];
}

/** Seconds under a key, in the unit that timers take. */
export function millisecondsAt(node: SourceNode | undefined, key: string): number | undefined {
  const value = numberAt(node, key);
  return value === undefined ? undefined : Math.max(1, Math.round(value * 1_000));
}
