import type { ApprovalStatistics } from '../../approvals/index.ts';
import { type Family, metricNumber, type Sample } from './exposition.ts';

/** No labels of agents or tools: the audit log has both. */
export function approvalFamilies(numbers: ApprovalStatistics | undefined): Family[] {
  const { open = 0, waiting = 0, decided = nothing } = numbers ?? {};
  return [
    family('quartermaster_approvals_open', 'gauge', 'Questions that wait for a person.', [{ labels: {}, value: open }]),
    family('quartermaster_approvals_waiting_calls', 'gauge', 'Calls that wait for a decision now.', [
      { labels: {}, value: waiting },
    ]),
    family(
      'quartermaster_approvals_decided_total',
      'counter',
      'Questions that ended, by outcome. void: something that the call depends on changed.',
      Object.entries(decided).map(([outcome, value]) => ({ labels: { outcome }, value })),
    ),
    family(
      'quartermaster_approval_decision_seconds',
      'histogram',
      'How long people took to decide.',
      numbers === undefined ? [] : histogram(numbers.decisionMs),
    ),
  ];
}

const nothing: ApprovalStatistics['decided'] = { approved: 0, denied: 0, expired: 0, void: 0 };

function family(name: string, type: Family['type'], help: string, samples: readonly Sample[]): Family {
  return { name, type, help, samples: [...samples] };
}

function histogram({ boundsMs, counts, sum }: ApprovalStatistics['decisionMs']): Sample[] {
  let total = 0;
  const buckets = counts.map((count, index): Sample => {
    total += count;
    const bound = boundsMs[index];
    return {
      suffix: '_bucket',
      labels: { le: bound === undefined ? '+Inf' : metricNumber(bound / 1000) },
      value: total,
    };
  });
  return [
    ...buckets,
    { suffix: '_sum', labels: {}, value: sum / 1000 },
    { suffix: '_count', labels: {}, value: total },
  ];
}
