/** What the hub promises about trying out rules, and about rules in any form. Part of `requirements`. */
export const ruleRequirements = {
  'paths:linear': 'However many levels a path in the arguments has, the hub asks the system about few of them.',
  'rules:deny-narrows': 'A deny that is added in any form, at any place, never widens what a call may do.',
  'rules:unknown-form': 'Rules in a form that is not understood are an error; they never widen anything.',
  'rules:flat-cost': 'A call costs no more conditions with more rules that cannot apply to it.',
  'shadow:recorded': 'With a shadow policy, the record of each call says what that policy would have decided.',
  'shadow:same': 'A shadow decision is the decision that the same rules make when they are enforced.',
  'shadow:no-effect': 'A shadow policy changes no decision and no list.',
  'shadow:trust':
    'A changed shadow policy needs approval like other rules, and rules that become a shadow stay enforced before.',
  'policies:test-changes':
    'Recorded calls are decided again by other rules with `qm policy test`, which shows what changes and fails if anything does.',
  'policies:test-unknown': 'A recorded call that cannot be decided again is reported as unknown and fails the test.',
} as const;
