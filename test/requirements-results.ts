/** What the hub promises about paths, labels, results and MAGSAG's permissions. Part of `requirements`. */
export const resultRequirements = {
  'labels:shown': 'The record of a call has the labels that its run had when it was decided, and qm calls shows them.',
  'policy:ignored-argument':
    'For known file servers, a path condition that allows does not hold for an argument which the tool ignores.',
  'policy:link-swap':
    'A folder that becomes a link counts as the link from the next call on, also for calls that waited.',
} as const satisfies Record<string, string>;
