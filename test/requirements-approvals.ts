/** What the hub promises about calls that a person must approve. Part of `requirements`. */
export const approvalRequirements = {
  'approvals:held':
    'A call that a rule asks about waits for a person, takes no slot of its server meanwhile, and then runs.',
  'approvals:bound':
    'An approval is for exactly one call: caller, run, server, credential, definition, rule and arguments as written.',
  'approvals:once': 'An approved call is sent once or not at all, wherever the hub dies, and the record says which.',
  'approvals:pending': 'A call whose client stops waiting is answered as pending, and the next equal call goes on.',
  'approvals:restart': 'Questions and decisions survive a restart of the hub.',
  'approvals:redecided':
    'What changes while a call waits is decided again; a changed rule, tool or credential asks again.',
  'approvals:denied': 'A denied call is not sent; the agent reads the reason, and a suggested call is approved once.',
  'approvals:expired': 'A question that nobody answers expires, and the agent is told how to ask again.',
  'approvals:grants': 'A standing grant covers what it says and no more, is counted durably, and can be revoked.',
  'approvals:limits': 'Open questions, waiting calls and arguments have bounds, per agent and in all.',
  'approvals:sealed': 'The store is sealed; a damaged, restored or lost one approves nothing.',
  'approvals:store': 'Each change is on disk before anybody sees it; of two changes at once one wins.',
  'approvals:full-disk': 'While approvals cannot be stored, calls that need them are refused, and nothing is sent.',
  'approvals:deciders': 'Who decided is recorded; four eyes, named approvers and the page are enforced.',
  'approvals:person': 'No MCP call decides on an approval.',
  'approvals:commands':
    'The command qm approvals lists, shows, approves, denies, resolves and revokes, and so does the API.',
  'approvals:told': 'Events, metrics and the terminal of `qm serve` tell of held calls without their arguments.',
  'approvals:page':
    'The page of an approval opens once per link, only in the browser that opened it, and needs no script.',
} as const;
