/** What the hub promises about paths, labels, results and MAGSAG's permissions. Part of `requirements`. */
export const resultRequirements = {
  'labels:shown': 'The record of a call has the labels that its run had when it was decided, and qm calls shows them.',
  'policy:ignored-argument':
    'For known file servers, a path condition that allows does not hold for an argument which the tool ignores.',
  'policy:link-swap':
    'A folder that becomes a link counts as the link from the next call on, also for calls that waited.',
  'results:redact':
    'What a redaction rule of a server matches never reaches an agent or the ledger in a result or an error; a result too long to search is dropped.',
  'results:delimit':
    'With delimit, text labelled untrusted-content gets marks that its content cannot close; structured content and images stay as they are.',
  'magsag:permissions':
    "MAGSAG's mcp_permissions.yaml is read in place: its permissions restrict calls in addition to all other rules.",
  'magsag:environment': 'Where its environment is not known, the strictest of all its environments applies.',
  'magsag:not-understood': 'If part of it is not understood, nothing is allowed until it is corrected.',
  'magsag:trust': 'Its permissions belong to the rules that the operator approves.',
} as const satisfies Record<string, string>;
