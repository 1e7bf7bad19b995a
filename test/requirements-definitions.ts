/** What the hub promises about the definitions of servers and their use. Part of `requirements`. */
export const definitionRequirements = {
  'findings:hidden':
    'Invisible, direction-changing and tag characters in names and descriptions are reported, with the text they spell.',
  'findings:instructions': 'Orders to a model in any text of a definition are reported, by a short list of patterns.',
  'findings:shadowed': "Tools that have, imitate or speak of the name of another server's tool are reported.",
  'findings:quiet': 'Definitions of honest servers, in any language, give rise to no warning.',
  'findings:acknowledged': 'A finding that a person acknowledged comes back as soon as its text changes.',
  'findings:bounded': 'A server cannot hide a warning behind many other findings.',
  'findings:shown': 'Findings are in `qm doctor`, the API and the events; the definitions reach agents unchanged.',
  'audit:unused':
    'The tools that no run of an agent used are listed with their size, and the suggested lists take away these and nothing else.',
} as const satisfies Record<string, string>;
