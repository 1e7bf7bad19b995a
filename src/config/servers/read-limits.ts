import type { ServerLimits } from '../../domain/index.ts';
import { child, lineAt, type SourceNode } from '../files/source-tree.ts';
import { dotted, type Finding, quote } from '../findings.ts';
import { numberAt } from '../texts.ts';
import { completeLimits, type ServerPlace } from './server-draft.ts';

/** Reads the `limits` of a server: timeout, total time, calls per minute, concurrency, grace period and size of results. */
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
  const maxResultBytes = numberAt(limits, 'max_result_bytes');
  return completeLimits({ timeoutMs, maxMs, concurrency, ratePerMin, graceMs, maxResultBytes });
}

/** The calls per minute, under any of its three names. If there are several, they must agree. */
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
      message: `Server ${quote(place.name)}: "rate_limit" and "rate_per_min" mean the same but have different values.`,
      fix: 'Keep one of them.',
    });
  }
  return rates[0];
}

/** Converts seconds to milliseconds, the unit of timers. */
export function millisecondsAt(node: SourceNode | undefined, key: string): number | undefined {
  const value = numberAt(node, key);
  return value === undefined ? undefined : Math.max(1, Math.round(value * 1_000));
}
