/** What the hub promises about the definitions of tools, prompts and templates. Part of `requirements`. */
export const lockRequirements = {
  'lock:only-accepted':
    'With a lockfile, no agent lists or calls a definition that is not in it exactly like this, whatever its server sends and when.',
  'lock:reconnect': 'After a reconnect nothing is sent to a locked server before its lists were read and compared.',
  'lock:others-work': "The server's other tools work while one is withheld; with changed instructions all are.",
  'lock:says-why':
    'A call to a tool whose definition changed says so; a new tool looks unknown; the record names the server, the tool and the reason.',
  'lock:fingerprint':
    'A fingerprint covers everything that a model or user may read of a definition, and neither key order nor white space.',
  'lock:trusted':
    'A changed lockfile counts only as far as the approved one agrees; a missing or broken one leaves the approved one in force.',
  'lock:file':
    'The lockfile has one definition per line in a stable order; its formatting does not matter, and a mistake in it refuses the whole file.',
  'lock:rename': 'A renamed definition is recognised and shown as such, and never accepted by itself.',
  'lock:diff': 'The operator sees what changed line by line, on the command line and over the API.',
  'lock:accept':
    'A change is accepted by a command or over the API, one definition or all, and only exactly as it was seen.',
  'lock:frozen': 'In CI a command fails if a definition differs from the lockfile, and names it.',
  'lock:first-sight': 'Without a lockfile the definitions seen first count, and a change is logged and shown.',
} as const satisfies Record<string, string>;
