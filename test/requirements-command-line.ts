/** What the command line, the library, the package and the pages promise. A part of `requirements.ts`. */
export const commandLineRequirements = {
  'calls:alternative':
    'The message about an unavailable server names an alternative: from the configuration, or the command line of a well-known server.',
  'cli:alike':
    'Repeated warnings, and many of one kind in a file, are shown as one, with their number and the first places.',
  'cli:exit-codes': 'Exit codes are 0 to 6 and 130 as documented.',
  'cli:json': 'With --json, stdout holds the documented JSON and nothing else.',
  'cli:help':
    'Every command has -h and --help, which end with examples that work; qm help groups the commands by purpose.',
  'cli:did-you-mean':
    'A mistyped command, option, server, tool, agent, run, preset, secret or token gets the likely name as a suggestion.',
  'cli:interrupt': 'Ctrl-C ends every command with 130, also while it waits; a closed pipe ends it quietly.',
  'cli:logs':
    'The last stderr lines of each server are kept within bounds and shown without secrets, also of one that failed to start.',
  'cli:unknown-names':
    'Names in lists and rules that a server does not have are told by ls, doctor, tools and explain, with the likely name.',
  'cli:fits': 'At 80 columns no table and no message breaks a word.',
  'cli:light': 'Commands that only read files load no connection, hub, web or database code.',
  'doctor:replaced': 'The advice for a package that a built-in server replaces leads to a server that works.',
  'doctor:verdicts':
    'Each server is reachable, needs-auth, auth-failed or unreachable, with transport, code and next step.',
  'doctor:recorded': 'Each probe is one line in the ledger, under its own run.',
  'call:form':
    'A person at a terminal answers what servers ask; without a terminal, servers are told that nobody can answer.',
  'doctor:apart': 'Doctor and inspect use their own connections; a running hub and its servers are not affected.',
  'doctor:stop': 'Ctrl-C ends the probes and their children at once and restores the cursor; exit 130.',
  'inspect:given':
    'A URL or a program on the command line can be inspected without configuration; nothing is sent or passed to it but what was given.',
  'inspect:isolation': 'Inspect says what a server cannot request for lack of isolation, and how agents see its tools.',
  'inspect:redaction':
    'Values of variables that a server puts into names and texts are not in the output of diagnoses.',
  'inspect:complete': 'Inspect shows everything a server lists, with schemas; server text cannot control the terminal.',
  'cli:printable': 'Control, direction and zero-width characters from outside never reach the terminal.',
  'serve:own-port': 'The hub of a second workspace takes a free port, and has the same one at its next start.',
  'control:private': 'The control socket has a short path in a private folder, and the hub removes it when it ends.',
  'control:attach':
    'A command that attaches to the running hub gets the view of its agent; a wrong workspace or an unknown protocol version is refused with the reason.',
  'cli:without-hub': 'Commands on files, call and stdio work while no hub runs.',
  'edit:add': 'A server can be added without an editor, and works.',
  'edit:new-server': 'One command scaffolds a working, tested and configured server of your own, or changes nothing.',
  'edit:formatting': 'An edit keeps the comments, order, line endings, permissions and links of the file.',
  'edit:refuse': 'What cannot be added is refused with the reason and changes nothing; secrets never enter the file.',
  'edit:route': "A server added for an agent is in that agent's list; the command says who gains or loses it.",
  'edit:together': 'Changes made at the same time are all kept.',
  'edit:hub': 'A running hub applies a change, and the command says so.',
  'edit:reload': "On the operator's command, a running hub uses the files as they are, even if some are gone.",
  'edit:init': 'A folder without configuration gets a first file, valid and explained; nothing is ever overwritten.',
  'edit:remove':
    'A server is removed from the file that configures it, and the command says what names it and then names nothing.',
  'edit:switch': 'A server is disabled and enabled in the file that configures it, once.',
  'edit:disk': 'A change that cannot be written leaves the old file and nothing else.',
  'preset:bootstrap': 'Presets become servers of the workspace; one that lacks a variable affects no other.',
  'preset:keep': 'A preset replaces a differing file only on request; all files are written or none.',
  'preset:add': 'A preset added to quartermaster.yaml is the same server that bootstrap writes.',
  'preset:routes':
    'Each preset comes with its required variables and with routes for the roles of a team, which load unchanged.',
  'preset:doctor': "Each preset and pattern is diagnosed against its provider's behaviour: verdict, exit code, advice.",
  'sync:same': 'What sync writes is read as the same server, and holds no value of a variable.',
  'sync:check': 'With --check, sync only looks: it names missing, stale and left-over files and sets the exit code.',
  'sync:refuse': 'Sync touches nothing it did not write, and does all or nothing.',
  'library:call': 'A program creates a hub and calls a tool as an agent, under the same rules.',
  'library:errors':
    'A rate limit and a server that does not start have their own error classes, which name the server.',
  'library:not-trusted': 'A call or list that needs an unapproved server names it, and the command that approves it.',
  'library:backoff': 'Work that meets a rate limit is retried after growing waits, each reported.',
  'library:selection': 'A program can narrow an agent to selected tools, and never widen it.',
  'library:call-all': 'Calls made together share one deadline, and each has its own outcome.',
  'library:resources': 'A program lists and reads resources, templates and prompts as an agent, under the same rules.',
  'library:subscribe': 'A program is notified of changes to a resource until it ends the subscription.',
  'library:server-requests':
    'A program answers elicitation, sampling and roots with handlers, and gets no other requests.',
  'library:session': 'Each agent handle is its own client session.',
  'library:quiet-import': 'Importing the library starts nothing.',
  'builtin:configured': 'A built-in server is configured by its name instead of a command.',
  'builtin:postgres-file': 'A file of type postgres is read as the built-in server on its database.',
  'builtin:both-eras': 'The built-in servers speak both protocol eras, over stdio and inside the hub.',
  'builtin:hosted': 'A built-in server inside the hub is called like any other: decided, recorded, limited, ended.',
  'builtin:git-confined':
    'Whatever git is asked and whatever the repository holds, nothing runs, changes, or is read from outside it.',
  'builtin:pg-unwritten': 'No request to pg-readonly changes its database, whatever rights its role has.',
  'builtin:pg-layers': 'Transaction, statement and parser each keep pg-readonly from writing, even without the others.',
  'builtin:pg-bounds':
    'Rows, bytes, time and connections of pg-readonly are bounded; a cancelled call ends in PostgreSQL.',
  'builtin:fetch-guard':
    'Fetch connects only to public addresses, however they are written, named or redirected to, except those the operator allows.',
  'builtin:fetch-bounds':
    'Whatever a web server answers, fetch keeps its limits on bytes, time and redirects, and leaves no connection open.',
  'builtin:fetch-work': 'Whatever a page contains, fetch converts it in small turns, with work linear in its length.',
  'docs:examples': 'Every example in the docs is loaded, run or compared, or says why it is not.',
  'docs:routes': 'The routes in the patterns and the security model give exactly the tools in their tables.',
  'docs:verified': 'A server counts as verified in the version that the tests run.',
  'events:servers': 'Each change of a server, its lists or the configuration reaches every listener, in order.',
  'events:contained':
    'A listener that fails or is slow costs others nothing; a slow one reads how many events it missed.',
  'events:admin': 'Only the admin token opens the event stream, which ends when the hub stops.',
  'hub:project': 'A caller reaches only the servers of its own project; without that project it reaches none.',
  'hub:interrupted': 'A call that the hub ends because it stops reads interrupted in the ledger.',
  'hub:unsent':
    'A call that was not sent when the hub stops is recorded as unavailable, never as one that may have run.',
  'hub:stop': 'Stopping finishes or fails calls in flight, ends the children and closes the ledger.',
  'connect:files':
    "Connecting changes nothing in a client's file but its own entries, byte for byte, and disconnecting leaves the file as it was.",
  'connect:meanwhile':
    'Disconnecting keeps what a person changed in the file meanwhile, and undoes an entry that was changed by hand only on request.',
  'connect:direct':
    'A connected client uses servers of the hub only through the hub, which serves them as before; disconnecting restores its own entries.',
  'connect:no-token': "No token is written into a client's file; the client's own variable names it.",
  'connect:private': 'Backups and records of connections are outside the workspace and private; previews mask secrets.',
  'connect:refuse': 'What cannot be connected is refused with the file and the reason, and nothing is written.',
  'connect:trust':
    'Connecting approves only the entries that it moves, and asks first about servers that wait for approval.',
  'connect:scopes': 'Several workspaces can be connected to one client; a file that git tracks is not taken unasked.',
  'connect:shared-files': 'The preview warns before an entry is taken out of a file that git tracks.',
  'connect:git':
    'Connecting runs no program of the workspace, whatever its PATH and the settings of its repository say.',
  'connect:first-contact':
    'Connecting starts each new trusted server once, so that the first list of the client is complete.',
  'connect:first-call': 'On a terminal, connecting waits for the first call of the client and says so.',
  'connect:doctor': 'Doctor reports a connected client that reaches a server of the hub without the hub.',
  'library:quiet-signals': 'However many calls share a signal or a deadline, Node warns of no leak.',
  'package:contents':
    'The package holds the command line, the library with its types, and the pages; no tests, sources or maps.',
  'package:command': 'An installed qm runs through npx, through links and from a global folder.',
  'package:container':
    'The image runs the hub as an ordinary user, reports its health, and ends in order when it is stopped.',
  'package:library': 'A strictly typed program compiles and runs against the installed library.',
  'docs:demo': 'The session in the README is recorded from real commands, which still exist.',
} as const satisfies Record<string, string>;
