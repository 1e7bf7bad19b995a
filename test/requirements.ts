import { approvalRequirements } from './requirements-approvals.ts';
import { commandLineRequirements } from './requirements-command-line.ts';
import { definitionRequirements } from './requirements-definitions.ts';
import { lockRequirements } from './requirements-lock.ts';
import { resultRequirements } from './requirements-results.ts';
import { ruleRequirements } from './requirements-rules.ts';
import { trustRequirements } from './requirements-trust.ts';

/**
 * What the hub promises, one sentence each. A test names the promise it verifies with
 * `test(verifies('journal:before-send', 'a call is …'), …)`; requirements-coverage.test.ts checks that each has a test.
 */
export const requirements = {
  ...trustRequirements,
  ...approvalRequirements,
  ...definitionRequirements,
  // Configuration
  'config:in-place': 'The files quartermaster.yaml and .mcp.json are read in place, without conversion.',
  'config:client-files':
    'The project files of some twenty other clients are read in place, each with its own variable syntax and restrictions.',
  'config:samples': "Samples that other programs write into clients' files are left out, with a note.",
  'config:precedence': 'When two files name the same server, the stronger file wins and the hidden entry is reported.',
  'config:duplicate-name': 'The same server name twice in one file is an error with file and line.',
  'config:unknown-keys': "An unknown key is an error in quartermaster.yaml and a warning in other programs' files.",
  'config:invalid-alone': 'An invalid server is reported by file, line and field, and does not affect other servers.',
  'config:broken-file':
    'A broken file with agents or policies stops the hub, any other denies every tool; a running hub keeps its last configuration.',
  'config:agents': 'Agents with their servers, filters and rules come from quartermaster.yaml.',
  'config:squad':
    "Squad's file defines servers and the servers and tools of each agent or role; if it is broken, everything is denied.",
  'config:agent-alone':
    "A mistake about one agent in Squad's file leaves that agent without tools, and the hub running.",
  'config:orphans': 'A server file whose source is gone is reported.',
  'config:roles': 'The team page gives agents their roles, but no servers.',
  'config:agent-files':
    'One file per agent gives it servers and rules; if part of it is not understood, that agent gets no tools.',
  'config:q-agents':
    'Agent files of Amazon Q and Kiro give each agent its servers and tools; a mistake costs that agent its tools.',
  'config:server-files': 'One file per server is read in all three formats, and in the format that sync writes.',
  'config:manifests':
    "Servers in enabled-tools.json, product manifests and mcp.json are read; other programs' files are not.",
  'config:bad-files':
    'An unusable file is reported as one clear problem; unless it is the file of one server, every tool is denied.',
  'config:absence':
    'A missing, empty or unreadable file keeps its last good text in force; changes that widen rights wait three seconds.',
  'config:restrictions':
    "Every client's words for restrictions are read; an unknown key that looks like a restriction makes its server invalid.",
  'config:weaker-forbids': 'What a weaker file forbids for a server of the same name stays forbidden.',
  'config:schema': 'The published JSON Schema is the one the reader validates with.',
  'config:reload': 'A changed file gives new calls a new view; calls in flight keep theirs.',
  'config:live': 'Servers that are added, changed, disabled or removed reach every connected client by list_changed.',
  'variables:forms':
    'Every form of a variable expands: plain, with a default, with an alternative, nested and escaped.',
  'variables:missing': 'An error about a missing variable names server, field and variable, and never a value.',
  'variables:dotenv':
    "The workspace's .env overrides the environment, is overridden by predefined names, and counts as secret.",
  'variables:inputs':
    'An input that an editor would ask a person for is answered by the secret store or by its default, never by the environment or .env.',
  'secrets:sealed':
    'Stored secrets are sealed; a value that was changed, swapped, cut or sealed with another key is refused, and nothing overwrites it.',
  'secrets:rotation': 'A new key replaces the old one without a moment at which the values cannot be read.',
  'secrets:keychain':
    'The key of the stored secrets is in the keychain where one works, else in a file that only the user can read; `qm secret ls` says where.',
  'secrets:keychain-refuses':
    'A keychain that is locked, refuses, does not answer or was replaced is an error within a deadline; no new key takes the place of the old one, and nothing is overwritten.',
  'secrets:key-moves': 'The key moves between keychain and file, and a move that ends at any step loses nothing.',
  'secrets:no-way-back':
    'A process that has opened the store refuses it when it disappears or goes back to an earlier version.',
  'secrets:move':
    'A secret in a configuration file is moved into the store after a preview: every server stays as it is, and nothing else in the file changes.',
  'secrets:move-order':
    'A move stores the secret before it changes the file, and changes neither if the file is not as it was shown.',
  'secrets:first': 'A stored secret overrides .env and the environment; if the store cannot be read, no hub starts.',
  'secrets:live': 'A running hub uses a changed secret without a new connection where only headers change.',
  'secrets:unseen': 'No command takes a secret from its arguments or prints one.',
  'variables:empty-header': 'A header that expands to nothing is not sent.',

  // Upstream servers
  'upstream:stdio-legacy': 'A stdio server of the 2025 versions is listed and called.',
  'upstream:stdio-modern': 'A stdio server of the 2026 version is listed and called.',
  'upstream:http-legacy': 'An HTTP server of the 2025 versions is listed and called in its session.',
  'upstream:http-modern': 'An HTTP server of the 2026 version is listed and called without a session.',
  'upstream:era-fallback': 'A server that does not know the newer protocol version is reached with the older one.',
  'upstream:handshake-ends-on-refusal': 'After HTTP 401, 403 and 451 no other protocol version is tried.',
  'upstream:restart': 'A child process that died is started again for the next call.',
  'upstream:session-lost': 'A lost upstream session is opened again; a call that may have run is not repeated.',
  'upstream:resume':
    'When the stream of an answer breaks, the rest is read from another stream; the call is not sent again.',
  'upstream:failures-told-apart':
    'Loss, login, refusal, throttling, timeout, HTTP error and garbage each have their own code.',
  'upstream:tool-error': "A tool's own error reaches the agent unchanged and does not count against the server.",
  'upstream:timeout': 'A silent call ends at its deadline; progress extends the deadline up to a total.',
  'upstream:cancel': 'A cancelled call is cancelled upstream.',
  'upstream:failing-server-alone': 'A hung, dead, slow or lying server affects only its own calls.',
  'upstream:bounded': 'Queued bytes, line length and calls in flight are bounded per server.',
  'upstream:depth': 'A server message that nests too deep fails only its own exchange, over every transport.',
  'upstream:gives-back':
    'Messages that a server leaves unanswered time out and free their connections; calls have connections of their own.',
  'upstream:starts': 'At most eight servers start at the same time; the one that a call names goes first.',
  'upstream:restless': 'A server whose lists keep changing is listed again ever less often, and logged once a minute.',
  'upstream:tools-changed': 'When a tool definition differs from the last known one, the change is logged by name.',
  'upstream:sse': 'A server of the older HTTP+SSE transport is listed and called.',
  'upstream:sse-origin': 'An event stream may name an endpoint only at its own origin.',
  'upstream:reconnect': 'A lost connection is opened again with backoff; calls in the meantime say when to retry.',
  'upstream:fallback': 'When a transport is unavailable, the next one configured for the server is tried.',
  'upstream:fallback-implicit-sse':
    'The older SSE transport is tried implicitly only after Streamable HTTP answers 404 or 405.',
  'upstream:fallback-ends-on-refusal': 'After 401, 403, 451 and 429 no other transport is tried.',
  'upstream:refused-state': "A call that gets 401 or 403 changes its server's state and affects no other call.",
  'upstream:start-stderr': 'When a child fails to start, the error carries the end of its stderr, without secrets.',
  'upstream:probe': 'A probe connects afresh, reports each transport separately, and never throws.',
  'upstream:inspect': 'Inspect reads everything a server lists, page by page; a list that fails is a warning.',
  'upstream:lists':
    'Resources, templates and prompts are discovered beside tools, page by page, refreshed on change, and remembered.',
  'upstream:subscriptions':
    'A resource is subscribed to once upstream for all subscribers, and again after each reconnect, without missing updates.',
  'breaker:opens': 'The third failed connect in a row opens the circuit; later a single trial decides.',
  'breaker:counts-connects-only': 'Call timeouts, 401, 403, 429 and tool errors do not count.',

  // Child processes
  'children:environment': 'A child gets a safe base environment plus its configuration, and nothing else.',
  'children:stop': 'A child process is ended by end of input, then SIGTERM, then SIGKILL, with its whole group.',
  'children:watchdog': 'When the hub is killed, the watchdog ends every registered process group.',
  'children:gate': 'A child does not run before its process group is registered.',
  'children:sweep': 'On Linux, a descendant that left its group is found by its environment cookie.',
  'children:stale': 'On Linux, processes left by a dead hub are ended at the next start, and no others.',
  'children:stderr': 'A child that floods stderr neither blocks the hub nor grows its memory.',

  // What an agent sees and may do
  'protocol:conformance-2025':
    'With preserved names and isolation per session, the official conformance suites for the 2025 versions pass through the hub, over HTTP and stdio servers.',
  'protocol:conformance-2026':
    'With preserved names, the hub meets every requirement of the 2026 version, over HTTP and stdio servers.',
  'protocol:conformance-client':
    'As a client, the hub passes the official client conformance tests, except those for logins.',
  'view:least-privilege': 'An agent lists and calls only what its role, filters and policies allow.',
  'view:list-is-call': 'The same code decides what is listed and what can be called.',
  'view:hidden-is-unknown':
    'A hidden tool and an unknown tool give the agent the same answer; the audit log has the truth.',
  'policy:conditions':
    'A rule may look at arguments: each call is decided on its own, and a tool is listed if some arguments may pass.',
  'policy:arguments':
    'Rules compare arguments by value, pattern, number and path; a value of an unexpected type never widens rights.',
  'policy:first-clause': 'Of the clauses under one pattern, the first that holds decides.',
  'policy:tool-class': 'A clause may apply only to tools that read, write or destroy.',
  'policy:paths':
    'Paths are judged in every way that a server may read them, links followed: no spelling reaches what a rule denies.',
  'policy:protected-paths':
    'File servers get neither secrets nor configuration of the workspace, unless allowPaths lists them.',
  'budget:agent':
    'An agent has its own budget of calls and bytes; a delegated call spends the budget of every agent in its chain.',
  'roles:table': 'The roles that qm bootstrap --roles writes have the rights of their rows in the table.',
  'labels:run':
    'A run that called a labelled server keeps the label, also for runs that it delegates to and after a restart.',
  'limits:result-size':
    'A server may have a limit on the size of its results; a larger one becomes an error that says so.',
  'view:routing': 'When anything is routed, an agent that no route names gets only shared servers.',
  'routing:role':
    'An agent has the servers, lists and rules of its role; its own entry may narrow them and never widen them.',
  'scopes:read-only': 'A server without write scopes, or marked read-only, exposes only tools that are known to read.',
  'scopes:provider-mode':
    "A read-only Supabase server can still run selects, because the hub switches on the provider's own read-only mode.",
  'scopes:untrusted': 'What an untrusted server says about its own tools never widens rights.',
  'scopes:write-approval':
    'Where writes need approval, a tool that may write needs a human, unless an exact rule allows that tool.',
  'view:precedence': 'Across sources the strictest decision wins; within one map an exact name beats a pattern.',
  'view:ask-without-human': 'When a rule asks for a human and nobody can be asked, the call is denied and says so.',
  'view:exclude-undiscovered': 'With an exclude list, a server that has not been discovered yet exposes nothing.',
  'view:cold-list':
    'The first list waits for undiscovered servers as long as its client does, then answers; list_changed follows.',
  'contact:call': 'A call to a server that is still starting waits for it and is never reported as an unknown tool.',
  'contact:status': 'While a server is missing, the tool quartermaster_status says which one and why.',
  'contact:early':
    'The commands serve and stdio start undiscovered servers before a client asks, and stop unused ones.',
  'contact:taught': 'What doctor and add learn about a server, the next hub lists without starting it.',
  'contact:hasty': 'A client that cannot wait for its first list gets it in time.',
  'view:change': 'A change of one server touches only the agents that see it, and decides only what changed.',
  'view:explain': 'The operator can see which rule decided, with file and line.',
  'view:resources': 'An agent has the resources, templates and prompts of its servers, each under one name or URI.',
  'view:resources-hidden':
    'A denied resource or prompt looks unknown: in lists, in reads of any spelling, and in completions; the audit log has its server and the rule.',
  'names:resources':
    'A URI stays as its server wrote it; when two servers have the same URI, the first in the configuration keeps it, and neither can impersonate the other.',
  'apps:owner':
    'A ui:// or skill:// URI always carries the namespace of its server, so no server can supply the user interface of a tool of another.',
  'apps:references':
    'References to ui:// and skill:// resources are rewritten in lists, results and notifications, and back in requests; all else keeps its spelling.',
  'apps:calls':
    "A call by a server's own tool name means the server whose user interface the session has read, under the same policy; an ambiguous one is refused.",
  'apps:declared':
    'Servers hear that clients show user interfaces, and clients that the hub relays them; tools for apps alone are listed only to clients that show them.',
  'names:safe': 'Exposed names are unique, use the allowed alphabet and have at most 64 characters.',
  'names:order':
    'A contested name or URI belongs to the server that comes first in the configuration, on every machine and in every life.',
  'names:stable':
    'A server that is added at the end renames nothing; on a collision the earlier server keeps the name and both are reported.',
  'names:preserved': 'With naming: preserved, upstream names stay unchanged.',
  'arguments:bytes': 'The bytes of the arguments reach the server unchanged.',
  'arguments:one-line':
    'One request is one message to its server: no part of it can be read as another one, whatever line breaks it has.',
  'arguments:duplicate-keys': 'Arguments with a repeated key are refused.',

  'limits:fair': 'Slow calls of one agent leave room on a server for the calls of other agents.',
  'limits:arguments':
    'A large message counts against the budget of its agent until its call ends; a call over it is not sent.',
  'subscriptions:shares':
    'The subscriptions of an agent are limited, and it leaves room at each server for agents that come later.',
  'lists:paced':
    'Clients are notified of changed lists in turns, with a limit on the work of each turn, and all in their order.',
  'subscriptions:paced':
    'A change of a resource is told to its subscribers in turns, once to each client, whatever the server reports.',
  'isolation:limit': 'A server has a limited number of isolated connections, and no agent can take the room of others.',
  'builtin:turns': 'Calls of one agent leave turns of a built-in server for the calls of other agents.',
  'limits:rate': 'No minute sees more calls to a server than its rate limit; a refused call says when to retry.',
  'unavailable:told':
    "When a tool's server is unavailable, the error names it, says what to do instead and when it is tried again.",
  'unavailable:grace':
    'The tools of an unavailable server leave the lists after its grace period, and return under the same names.',
  'unavailable:endpoint':
    'Whatever is unavailable, an agent gets an endpoint with the remaining tools and the names of the missing servers.',

  // Interfaces for agents
  'http:legacy': 'An official client of the 2025 versions works through a client session.',
  'http:modern': 'An official client of the 2026 version works without a session.',
  'http:session-expiry': 'A client session expires by its last request, not by an open stream.',
  'http:session-owner': 'A client session serves only the token that opened it.',
  'http:resume': 'A 2025 client whose connection breaks during an answer resumes where it was.',
  'http:limits': 'Bodies over the size or depth limit and sessions over the count are refused.',
  'http:connection-bounds':
    'Connections without a valid token never keep agents out, and the connections of one token are bounded.',
  'http:messages-forgotten':
    'Ids and progress tokens have 256 characters at most, and a large message is counted until it is answered, then forgotten.',
  'http:kept-events':
    'The events that are kept for clients that reconnect have a limit per token, whatever their size and number.',
  'http:session-bounds': 'A token that opens too many client sessions loses its own oldest, and nobody else loses any.',
  'secrets:connection-key':
    'No secret is in the key of a connection; a rotated secret restarts a program and needs no new connection in a header.',
  'token:rows': 'Tokens are added and removed row by row; processes that write at the same time lose none.',
  'stdio:lists-in-turn':
    'Many lists in one chunk of a stdio client are made one after the other, as the client reads them.',
  'http:unread-answers':
    'Answers that clients do not read, and requests that they do not finish, cost only their own token.',
  'http:host-origin': 'A request with a foreign Host or Origin is refused.',
  'http:pages':
    'A page of an allowed origin can use the endpoint in both protocol eras and read every answer, errors included.',
  'http:other-pages': 'A page of any other origin is refused and can read nothing; no page can read the API.',
  'http:metadata':
    'A client without a valid token gets an error that says where the endpoint describes its requirements.',
  'http:sse': 'A client that knows only the 2024-11-05 transport works over /sse, with everything the hub exposes.',
  'http:sse-owner': 'A stream and each message to it need the same valid token; for other tokens they do not exist.',
  'http:sse-bounds':
    'Streams are bounded in number, unread bytes and silence; a client that only listens stays while it answers pings.',
  'http:sse-end':
    'A stream ends with its token and with the hub; calls of a client that left are closed in the ledger.',
  'http:node-versions': 'Every supported major version of Node serves HTTP alike.',
  'http:odd-clients': 'A wrong address, an early GET, a missing header or a silent end gets a clear answer at once.',
  'http:health': 'Liveness and readiness are answered without a token.',
  'stdio:one-hub': 'Stdio clients beside a running hub use it: one copy of each server, one limit, one ledger.',
  'stdio:hub-lost':
    'When the hub of a stdio client is lost, calls in flight are answered with HUB_LOST and the client goes on with the next hub.',
  'call:one-hub': 'A call of the operator beside a running hub runs in it, under its limits and in its ledger.',
  'hub:one': 'All commands that start servers use the one hub of the workspace.',
  'hub:background':
    'If no hub runs, commands and stdio clients start one in the background, which ends when nobody uses it.',
  'hub:background-start': 'A hub in the background starts outside the workspace, and Node loads no code of it there.',
  'hub:foreground': 'A hub inside a command serves other clients meanwhile, and makes room for the next hub.',
  'hub:hand-over': 'The command qm serve takes over from a hub in the background without dropping a call.',
  'hub:variables': 'A command that joins a hub says which of its variables the hub lacks or has with another value.',
  'stdio:view': "An agent's view works as a stdio server, and nothing else appears on its stdout.",

  // Identity
  'token:required': 'Without a valid, unexpired, unrevoked token nothing is listed or called.',
  'token:once': 'A token is shown once and stored only as a hash.',
  'token:intersection': "A child token's rights are the intersection with its parent's.",
  'token:ends':
    'When a token expires or is revoked, its streams, sessions and calls in flight end, and so do those of its children.',
  'token:stays-here': "The agent's token never goes upstream.",
  'run:id': 'The run id comes from the token, otherwise from the header, and is validated.',

  // Tasks
  'tasks:relay':
    'When client and server support the tasks extension, a call that becomes a task is relayed through the hub.',
  'tasks:own':
    'A task belongs to the token it was given to, as long as that agent has the tool; a restart changes nothing.',
  'tasks:refused': 'Otherwise tasks are refused: -32021 without the declaration, -32601 where nobody supports them.',
  'tasks:ledger': 'A call that became a task, and every later request about it, takes the same path as any call.',

  // Audit log
  'journal:before-send': 'The record of a call is written before its first byte goes upstream.',
  'journal:kill-9':
    'After kill -9 at any moment, each call that reached a server has a record; unfinished ones read interrupted.',
  'ledger:held':
    'A call that waits for a decision is recorded as held; if the hub dies before it is sent, it reads void: it did not run.',
  'ledger:connection':
    'A record has the session and the HTTP status of the exchange that carried the call, also after a repeat.',
  'journal:torn-line': 'Recovery drops a torn last line and nothing else.',
  'journal:disk-full': 'When the record cannot be written, calls are refused with a clear error until it can be.',
  'journal:gone':
    'A journal that is deleted, moved or replaced under a running hub is noticed within milliseconds and restored in full.',
  'files:private': 'Run files and their folders are private, also those that came with a repository.',
  'roots:configured':
    'Servers get roots of a client only where that is configured, and only folders of the workspace without keys.',
  'files:plain-only':
    'A pipe, device, socket, folder or huge file in the place of a file of the workspace stops neither qm nor a hub.',
  'files:no-links':
    'The hub neither writes nor trusts a file that is a link, belongs to another user, or is writable by others.',
  'journal:rotation': 'A journal file is removed only when every reader is done with it and no call in it is open.',
  'cost:linear': 'Reading, checking or redacting text from agents, servers or files costs work linear in its length.',
  'ledger:redaction':
    "A variable's value of six or more characters (except HOME, PATH and the like) appears in no record, log or error, in any usual spelling, before or after a reload; no record holds a field that is named like a secret.",
  'ledger:outcomes': 'Refusals and every kind of failure are in the ledger with their outcome.',
  'ledger:cut': 'Arguments and errors are cut at a documented size after redaction, with their full length and a hash.',
  'ledger:argument-budget':
    'Beyond the arguments that are kept of an agent in a minute, a call is recorded with their beginning, length and hash.',
  'ledger:refused-rate':
    'Refused calls of one token beyond 120 a minute are summed in one record; allowed calls are not affected.',
  'ledger:run-file': 'The calls of a run are in its file, each once.',
  'ledger:chain': 'A record of the journal that was changed, left out or removed is found by `qm ledger verify`.',
  'ledger:acts':
    'Acts that change rights are in the chain, whether a hub runs or not. Nothing is granted without a record; taking rights away is never prevented.',
  'ledger:clock':
    'A clock that jumps does not make retention remove records that are not old, or keep old ones for ever.',
  'ledger:summary': 'The statistics of the journal are those of the run files.',
  'ledger:run-files-in-git': 'In a git repository that would track the run files, two commands say so.',
  'ledger:head': 'Whoever kept an earlier head finds out that the audit log was computed anew.',
  'ledger:copies': 'Calls are read from the journal; run files that differ from it are reported.',
  'ledger:torn': 'A journal that ends anywhere in a write is sealed by the next start, with a record that says so.',
  'ledger:retention':
    'Journal and run files are removed by age and size, with a record in the chain; none with an open or held call.',
  'ledger:export': 'The audit log is exported with its chain, each write once, from the last acknowledged position on.',
  'ledger:statistics': 'Statistics are read from the ledger files, whether or not a hub runs.',
  'metrics:each-call-once': 'Every finished call is counted once in the metrics, under its server and ledger outcome.',
  'metrics:reload': 'A reload removes the metrics of removed servers and resets no other counter.',
  'metrics:admin': 'Metrics need the admin token; an agent token does not open them.',
  'telemetry:spans':
    'With the standard variables set, every call is one span with its attributes, without arguments, results or secrets.',
  'telemetry:context': "A call joins the trace its caller names, and the call's span is passed to the server.",
  'telemetry:collector-down': 'An unavailable collector costs one log line and delays no call.',
  'telemetry:off': 'Without the variables no telemetry package is loaded.',

  // Cached results
  'cache:same-call':
    "When a server has a cache, the same call within its lifetime gets the server's last answer, byte for byte.",
  'cache:rights': 'The decision comes first; cached results are shared only by callers that share a connection.',
  'cache:only-good':
    'Errors, tasks, answers to server requests, prompts, completions and results of tools that may write are not cached.',
  'cache:stale':
    'A cached result is dropped when it expires, when something may have been written, when the server says so, or when its entry changes.',
  'cache:bounded': "A server's cached results stay within their byte limit; the least recently used is evicted.",
  'cache:ledger': 'A cached answer is recorded before it is given, as a call that was not sent.',

  ...lockRequirements,
  ...commandLineRequirements,
  ...ruleRequirements,
  ...resultRequirements,
} as const satisfies Record<string, string>;

export type RequirementId = keyof typeof requirements;

/** Promised and not yet shown by a test. The list only shrinks: an id leaves it with its first test. */
export const notYet: readonly RequirementId[] = [];
