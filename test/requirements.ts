/**
 * What the hub promises, one sentence each. A test names the promise it keeps with
 * `test(verifies('journal:before-send', 'a call is …'), …)`; requirements-coverage.test.ts checks that each has one.
 */
export const requirements = {
  // What people wrote
  'config:in-place': 'Both quartermaster.yaml and .mcp.json are read where they are, without conversion.',
  'config:client-files':
    'Files of VS Code, Cursor, Copilot, Gemini, OpenCode and Codex are read in place, with the variables of each.',
  'config:precedence': 'Where two files name a server, the stronger wins and the hidden one is told.',
  'config:duplicate-name': 'The same server name twice in one file is an error with file and line.',
  'config:unknown-keys': 'An unknown key is an error in quartermaster.yaml and a warning in files of others.',
  'config:invalid-alone': 'An invalid server is told by file, line and field, and takes no other server down.',
  'config:broken-file':
    'A broken file stops the hub only where restrictions are written; a running hub keeps what it had.',
  'config:agents': 'Agents, with their servers, filters and rules, come from quartermaster.yaml.',
  'config:squad':
    "Squad's file gives servers, and each agent or role its servers and tools; broken, it denies everything.",
  'config:roles': 'The team page gives agents their roles, and routes nothing by itself.',
  'config:agent-files':
    'A file for each agent gives it servers and rules; what cannot be understood of that leaves it without tools.',
  'config:server-files': 'A file for each server is read in all of its three forms, and in what sync makes of them.',
  'config:manifests': 'Servers of enabled-tools.json and of product manifests are read; files of others are not.',
  'config:bad-files': 'A file that cannot be used is one clear problem, and no other server is affected.',
  'config:absence':
    'A file that is missing, empty or unreadable leaves its last good text in force; what widens rights waits three seconds.',
  'config:restrictions':
    'Words of all clients that restrict a server are read; what looks like one and is not understood makes it invalid.',
  'config:weaker-forbids': 'What a weaker file forbids of a server of the same name stays forbidden.',
  'config:schema': 'The published JSON Schema is the one that the reader checks with.',
  'config:reload': 'A changed file gives new calls a new view; calls under way keep theirs.',
  'config:live':
    'Servers that are added, changed, switched off and removed reach every connected client by list_changed.',
  'variables:forms': 'Every form of a variable expands: plain, with default, with alternative, nested, escaped.',
  'variables:missing': 'A missing variable names server, field and variable, and no value.',
  'variables:dotenv':
    "The workspace's .env is stronger than the environment, weaker than predefined names, and secret.",
  'variables:empty-header': 'A header that expands to nothing is not sent.',

  // Upstream servers
  'upstream:stdio-legacy': 'A stdio server of the 2025 revisions is listed and called.',
  'upstream:stdio-modern': 'A stdio server of the 2026 revision is listed and called.',
  'upstream:http-legacy': 'An HTTP server of the 2025 revisions is listed and called in its session.',
  'upstream:http-modern': 'An HTTP server of the 2026 revision is listed and called without a session.',
  'upstream:era-fallback': 'A server that does not know the newer revision is reached by the older one.',
  'upstream:answer-ends-fallback': 'HTTP 401, 403 and 451 are an answer: no other revision is tried after them.',
  'upstream:restart': 'A child that died is started again for the next call.',
  'upstream:session-lost': 'A lost upstream session is opened anew; a call that may have run is not repeated.',
  'upstream:resume':
    'The answer of a server whose stream broke off is read on from another; the call is not sent again.',
  'upstream:failures-told-apart': 'Loss, login, refusal, throttling, timeout, HTTP error and garbage have a code each.',
  'upstream:tool-error': "A tool's own error reaches the agent as it is and says nothing against the server.",
  'upstream:timeout': 'A silent call ends at its deadline; progress extends it up to a total.',
  'upstream:cancel': 'A cancelled call is cancelled upstream.',
  'upstream:hung-neighbour': 'A hung, dead, slow or lying server costs only its own calls.',
  'upstream:bounded': 'Queued bytes, line length and calls under way are bounded for each server.',
  'upstream:depth':
    'A message of a server that nests too deep fails its own exchange, over every transport and in every place.',
  'upstream:gives-back':
    'Messages that a server leaves unanswered are given up, and their connections with them; calls have their own.',
  'upstream:starts': 'At most eight servers start at a time; the one that a call names goes first.',
  'upstream:tools-changed': 'A tool whose definition is another than the last known one is logged by its name.',
  'upstream:sse': 'A server of the older HTTP transport with an event stream is listed and called.',
  'upstream:sse-origin': 'An event stream may name an endpoint at its own origin only.',
  'upstream:sse-reconnect': 'A lost event stream is opened anew with pauses; calls meanwhile say when.',
  'upstream:chain': 'A server that is away is reached by the next transport that is configured for it.',
  'upstream:chain-implicit-sse':
    'Streamable HTTP that answers 404 or 405, and only that, makes the older transport follow.',
  'upstream:chain-answer': 'After 401, 403, 451 and 429 no other transport is tried.',
  'upstream:refused-word': 'A call that gets 401 or 403 moves the state of its server, and no other call suffers.',
  'upstream:start-stderr': 'A child that fails to start leaves the end of its stderr in the error, without secrets.',
  'upstream:probe': 'A server is looked at afresh, each transport with its own verdict, without throwing.',
  'upstream:inspect': 'Everything that a server offers is read, page by page; a list that fails is a warning.',
  'upstream:offer':
    'Resources, templates and prompts are learnt beside tools, page by page, again when they change, and remembered.',
  'upstream:watch':
    'A watched resource is watched once for all who want to know, and again over each new connection, without a gap.',
  'breaker:opens': 'The third failed connect in a row opens the circuit; later one trial decides.',
  'breaker:counts-connects-only': 'Call timeouts, 401, 403, 429 and tool errors do not count.',

  // Child processes
  'children:environment': 'A child gets a safe base environment and what is configured, nothing else.',
  'children:stop': 'A child is ended by end of input, then SIGTERM, then SIGKILL, with its whole group.',
  'children:watchdog': 'When the hub is killed, the watchdog ends every registered group.',
  'children:gate': 'A child does not run before its group is registered.',
  'children:sweep': 'On Linux, a descendant that left its group is found by its environment cookie.',
  'children:stale': 'On Linux, what a hub that died left running is ended at the next start, and only that.',
  'children:stderr': 'A child that floods its error stream neither blocks nor grows the hub.',

  // What an agent sees and may do
  'protocol:conformance-2025':
    'Both suites of the official conformance tests for the 2025 revisions pass through the hub, over HTTP and stdio servers.',
  'protocol:conformance-2026':
    'Every requirement of the 2026 revision is met through the hub, over HTTP and stdio servers.',
  'protocol:conformance-client':
    'As a client, the hub passes the official conformance tests for clients, logins aside.',
  'view:least-privilege': 'An agent lists and calls only what its role, filters and policies allow.',
  'view:list-is-call': 'What is listed and what is callable is decided by the same code.',
  'view:hidden-is-unknown': 'A hidden tool and an unknown one give the agent the same answer.',
  'view:routing': 'Where anything routes, an agent that nothing names gets shared servers only.',
  'routing:role':
    'An agent has the servers, lists and rules of its role; an entry of its own may narrow that and never widen it.',
  'scopes:read-only':
    'A server whose scopes grant no writing, or that is said to be read-only, offers what is known to read.',
  'scopes:untrusted': 'What a server that is not trusted says of its own tools never widens rights.',
  'scopes:write-approval':
    'Where writing wants approval, a tool that may write asks a human, unless an exact rule allows that very tool.',
  'view:precedence': 'Across sources the strictest decision stands; within one map an exact name beats a pattern.',
  'view:ask-without-human': 'Where a rule asks for a human and nobody can be asked, the call is denied and says so.',
  'view:exclude-unseen': 'An exclude list against a server whose tools are not known yet yields nothing.',
  'view:cold-list':
    'The first list waits for servers that were never seen, as long as its client does, then answers; list_changed follows.',
  'contact:call': 'A call to a server that is still starting waits for it and is never an unknown tool.',
  'contact:status': 'While a server is missing, the tool quartermaster_status says which and why.',
  'contact:early':
    'The commands serve and stdio start servers that were never seen before a client asks, and let unused ones go.',
  'contact:taught': 'What doctor and add learn of a server, the next hub lists without starting it.',
  'contact:hasty': 'A client that cannot wait for its first list gets it in time.',
  'view:explain': 'The operator is told which rule decided, with file and line.',
  'view:others':
    'An agent has the resources, templates and prompts of its servers, each under one name or URI, as their server wrote them.',
  'view:others-hidden':
    'A resource or prompt that is denied is as good as unknown: in lists, in reads of any spelling, in completions.',
  'names:resources':
    'A URI stays as its server wrote it; of two servers with the same one the first keeps it, and nobody can pose as another.',
  'names:safe': 'Exposed names are unique, in the allowed alphabet and at most 64 characters long.',
  'names:stable': 'A name stays when servers come and go; on a collision the first keeps it and both are told.',
  'names:restart':
    'A name stays through restarts, wherever another server is added, and is reserved for a month after its own left.',
  'names:preserved': 'With naming: preserved, upstream names stay as they are.',
  'arguments:bytes': 'The bytes of the arguments reach the server unchanged.',
  'arguments:duplicate-keys': 'Arguments with a repeated key are refused.',

  'limits:rate': 'No minute sees more calls to a server than its rate limit; a refused call says when to try again.',
  'away:told':
    'When the server of a tool is away, the answer names it, what to do instead, and when it is tried again.',
  'away:grace':
    'The tools of a server that is away leave the lists after its grace period, and are back under their names with it.',
  'away:endpoint':
    'Whatever is away, an agent gets an endpoint: the tools of the others, and the names of what is missing.',

  // How agents reach it
  'http:legacy': 'An official client of the 2025 revisions works through a client session.',
  'http:modern': 'An official client of the 2026 revision works without a session.',
  'http:session-expiry': 'A client session ends by its last request, not by an open stream.',
  'http:session-owner': 'A client session serves only the token that opened it.',
  'http:resume': 'A 2025 client whose connection breaks in the middle of an answer reads on where it was.',
  'http:limits': 'Bodies over the size or depth limit and sessions over the count are refused.',
  'http:connection-bounds':
    'Connections without a valid token, however many, keep no agent out; one token has only so many connections.',
  'http:session-bounds': 'A token that opens too many client sessions loses its own, and nobody else any.',
  'http:host-origin': 'A request with a foreign Host or Origin is refused.',
  'http:pages': 'A page of an allowed origin can use the endpoint in both eras and read every answer, refusals too.',
  'http:other-pages': 'A page of any other origin is refused and can read nothing, nor can any page read the API.',
  'http:metadata': 'A client without a valid token is told so, and where to read what the endpoint wants.',
  'http:sse': 'A client that knows only the transport of 2024-11-05 works over /sse, with all that the hub offers.',
  'http:sse-owner': 'A stream and each message to it need the same valid token; to all others they do not exist.',
  'http:sse-bounds':
    'Streams are bounded in number, unread bytes and silence; who only listens stays while it answers a ping.',
  'http:sse-end': 'A stream ends with its token and with the hub; calls that its client has left end on the ledger.',
  'http:node-versions': 'Every supported major version of Node serves HTTP alike.',
  'http:odd-clients': 'A wrong address, an early GET, a missing header or a silent end is answered clearly, at once.',
  'http:health': 'Liveness and readiness are answered without a token.',
  'stdio:view': "An agent's view works as a stdio server, and nothing else is on its output.",

  // Who is calling
  'token:required': 'Without a valid, unexpired, unrevoked token nothing is listed or called.',
  'token:once': 'A token is shown once and stored as a hash only.',
  'token:intersection': "A child token's rights are the intersection with its parent's.",
  'token:ends':
    'When a token expires or is revoked, its streams, sessions and calls under way end, and those of its children.',
  'token:stays-here': "The agent's token never goes upstream.",
  'run:id': 'The run id comes from the token, else from the header, and is checked.',

  // Tasks
  'tasks:relay':
    'Where client and server have the tasks extension, a call that becomes a task is followed through the hub.',
  'tasks:own':
    'A task is for the token that it was given to, while that agent has the tool; a restart changes nothing.',
  'tasks:refused': 'Everywhere else tasks are refused: -32021 without the declaration, -32601 where nobody has them.',
  'tasks:ledger': 'The call that became a task, and all that is done with it, passes the path of every call.',

  // What happened
  'journal:before-send': 'The record of a call is written before the first byte goes upstream.',
  'journal:kill-9': 'After kill -9 at any moment, each call that reached a server has a record, open ones interrupted.',
  'journal:torn-line': 'Recovery drops a torn last line and nothing else.',
  'journal:disk-full': 'When the record cannot be written, calls are refused clearly until it can be.',
  'journal:gone':
    'A journal that is deleted, moved or replaced under a running hub is noticed before the next call is sent, and put back with all that was in it.',
  'state:made-here':
    'Tokens, keys and locks in a state folder that was not made here are set aside, new ones are made, and that is told.',
  'state:one-hub': 'One hub serves a workspace, also after its lock, or all of its state, was deleted.',
  'files:no-links':
    'No file of the hub is written or trusted through a link, when it is not ours, or when others can write it.',
  'journal:rotation': 'A file goes only when all have read it and no call in it is open.',
  'cost:linear':
    'Reading, checking or redacting a text of an agent, a server or a file costs work in proportion to its length.',
  'ledger:redaction':
    "A variable's value of six characters or more, but for the user's own HOME, PATH and the like, is in no record, log or error, in no usual spelling, now or after a reload; no record holds what is named secret.",
  'ledger:outcomes': 'Refusals and every kind of failure are on the ledger with their outcome.',
  'ledger:cut': 'Arguments and errors are cut at a documented size after redaction, with their full length and a hash.',
  'ledger:refused-rate':
    'Refused calls of one token beyond 120 a minute are counted in one record; calls that are allowed are not affected.',
  'ledger:run-file': 'The calls of a run are in its file, each once.',
  'ledger:statistics': 'The statistics of the ledger are read from its files, whether a hub runs or not.',
  'metrics:calls': 'Every call that ended is in the metrics once, under its server and the outcome of the ledger.',
  'metrics:reload': 'A reload takes removed servers out of the metrics and resets no counter of those that stay.',
  'metrics:admin': 'Metrics are for the admin token alone; no token of an agent opens them.',
  'telemetry:spans':
    'With the standard variables set, every call is one span with its facts and without arguments, results or secrets.',
  'telemetry:context': 'A call belongs to the trace that its caller names, and the server is told of its span.',
  'telemetry:away': 'A collector that is away costs one line of the log and delays no call.',
  'telemetry:off': 'Without the variables nothing of the telemetry packages is loaded.',

  // Results that are kept
  'cache:same-call':
    'Where a server has a cache, the same call within its time is answered by what the server last said to it, byte by byte.',
  'cache:rights': 'The decision comes first; what is kept is shared only by those who share a connection.',
  'cache:only-good':
    'Errors, tasks, answers to questions, prompts and completions are not kept, nor is a tool that may write.',
  'cache:stale':
    'What is kept goes when its time is over, something may have been written, the server says so, or its entry changes.',
  'cache:bounded': 'What is kept of a server stays within its bytes; the least used makes room.',
  'cache:ledger': 'An answer that was kept is recorded before it is given, as a call that was not sent.',

  // Command line and library
  'cli:exit-codes': 'Exit codes are 0, 1, 2, 3, 4 and 5 as documented.',
  'cli:json': 'With --json, standard output holds the documented JSON and nothing else.',
  'cli:light': 'Commands on files load and open no connection, hub, web or database.',
  'doctor:verdicts':
    'Each server is reachable, needs-auth, auth-failed or unreachable, with transport, code and the next step.',
  'doctor:recorded': 'Each probe is one line on the ledger, under a run of its own.',
  'call:form':
    'A person at a terminal fills in what servers ask for; without one, servers hear that nobody can be asked.',
  'doctor:apart': 'Doctor and inspect connect by themselves; a running hub and its servers notice nothing.',
  'doctor:stop': 'Ctrl-C ends the probes and their children at once and gives the cursor back; exit 130.',
  'inspect:isolation':
    'Inspect tells what a server cannot ask for want of isolation, and how agents see what it offers.',
  'inspect:complete': 'Inspect shows everything a server offers, with schemas; what it says cannot steer the terminal.',
  'cli:printable':
    'Control characters, and those that turn a line around or have no width, never reach the terminal from anybody else.',
  'cli:without-hub': 'Commands on files, call and stdio work while no hub runs.',
  'edit:add': 'A server is added without an editor, and works.',
  'edit:new-server':
    'One command starts a server of your own that works, is tested and is configured; or it changes nothing.',
  'edit:formatting': 'A change keeps comments, order, line ends, rights and links of the file it changes.',
  'edit:refuse': 'What cannot be added is refused with the reason and changes nothing; secrets never enter the file.',
  'edit:route': 'A server added for an agent is in its list; who gains or loses by it is told.',
  'edit:together': 'Changes made at the same time are all kept.',
  'edit:hub': 'A running hub takes a change up, and the command says so.',
  'edit:reload':
    'A running hub uses the files as they are, also without those that are gone, when the operator says so.',
  'edit:switch': 'A server is switched off and on in the file that configures it, once.',
  'edit:disk': 'A change that cannot be written leaves the old file and nothing else.',
  'preset:bootstrap': 'Presets become servers of the workspace; one that lacks a variable hurts no other.',
  'preset:keep': 'A preset replaces a file that differs only when told to; all are written or none.',
  'preset:add': 'A preset added to quartermaster.yaml is the server that bootstrap writes.',
  'preset:routes':
    'With each preset come the variables that it needs and routes for the roles of a team, which load as they are.',
  'preset:doctor':
    'Each preset and pattern, as it is written, is diagnosed against the behaviour of its provider: verdict, exit code, advice.',
  'sync:same': 'What sync makes is read as the same server, and holds no value of a variable.',
  'sync:check': 'Sync can only look: missing, stale and left-over files are named and the exit code says so.',
  'sync:refuse': 'Sync touches nothing that it did not make, and does nothing by halves.',
  'library:call': 'A program creates a hub and calls a tool as an agent under the same rules.',
  'library:errors': 'A rate limit and a server that does not start are errors of their own, with the server.',
  'library:backoff': 'Work that meets a rate limit is tried again after growing waits, each of them told.',
  'library:selection': 'A program narrows an agent to the tools it selects, and never widens it.',
  'library:call-all': 'Calls made together have one deadline, and each its own outcome.',
  'library:readings': 'A program lists and reads resources, templates and prompts as an agent, under the same rules.',
  'library:subscribe': 'A program hears of changes of a resource until it ends the subscription.',
  'library:questions': 'A program answers forms, pages, sampling and roots with handlers, and is asked nothing else.',
  'library:session': 'Each agent handle is a client session of its own.',
  'library:quiet-import': 'Importing the library starts nothing.',
  'builtin:configured': 'A server that comes with the hub is configured by its name, in place of a program.',
  'builtin:postgres-file': 'A file of type postgres is read as the built-in server on its database.',
  'builtin:both-eras': 'Our own servers speak both eras, over stdio and inside the hub.',
  'builtin:hosted': 'A built-in server inside the hub is called as any other is: decided, recorded, limited, ended.',
  'builtin:git-confined':
    'Whatever git is asked, and whatever the repository holds: nothing runs, changes, or is told from outside.',
  'builtin:pg-unwritten': 'What pg-readonly is asked changes nothing in its database, whatever rights its role has.',
  'builtin:pg-layers': 'Transaction, statement and parser each keep pg-readonly from writing, without the others.',
  'builtin:pg-bounds':
    'Rows, bytes, time and connections of pg-readonly are bounded; a cancelled call ends in PostgreSQL.',
  'builtin:fetch-guard':
    'Fetch dials nothing that is not public, however it is written, named or redirected to, but for what is let through.',
  'builtin:fetch-bounds':
    'Whatever a web server answers, fetch keeps its bytes, time and redirects, and leaves no connection.',
  'builtin:fetch-work': 'Whatever a page is made of, fetch converts it in small turns, with work as its length.',
  'docs:examples': 'Every example on a page is loaded, run or compared, or says why it is not.',
  'docs:routes': 'The routes of the patterns and of the security model give exactly the tools of their tables.',
  'docs:verified': 'A server counts as verified in the version that the tests run.',
  'hub:interrupted': 'A call that the hub ends because it stops reads interrupted on the ledger.',
  'hub:stop': 'Stopping finishes or fails calls under way, ends the children and closes the record.',
} as const satisfies Record<string, string>;

export type RequirementId = keyof typeof requirements;

/** Promised and not yet shown by a test. The list only shrinks: an id leaves it with its first test. */
export const notYet: readonly RequirementId[] = [];
