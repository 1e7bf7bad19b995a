import { type ConnectionRecord, type LedgerConnection, type LedgerSubject, ledgerConnection } from './call-text.ts';
import { longestName, shortName } from './cut-text.ts';
import type { Redact } from './redact.ts';

/** A subject as it is written. One that a server lists is redacted once, since many calls have it. */
export function redactedSubject(subject: LedgerSubject, redact: Redact): LedgerSubject {
  if (subject.known) {
    subject.redacted ??= redactListed(subject, redact);
    return subject.redacted;
  }
  // A name that no server has is the caller's own text, so it may contain secrets.
  return withWhat(subject, shortName(`{${subject.what}}`, redact).slice(1, -1));
}

/** The server chooses the session id, so it may contain secrets too. */
export function redactedConnection(facts: ConnectionRecord, redact: Redact): LedgerConnection {
  // A connection may have these as getters, which a spread would lose.
  const { transport, protocolVersion, sessionId } = facts;
  const redacted = sessionId === null ? null : redact.message(sessionId, longestName);
  return ledgerConnection({ transport, protocolVersion, sessionId: redacted });
}

/** A server may put a secret of its configuration into the names that it lists. */
function redactListed(subject: LedgerSubject, redact: Redact): LedgerSubject {
  const rest = subject.what.slice(subject.server.length + 1);
  const redacted = redact.json(`{${rest}}`).slice(1, -1);
  return redacted === rest ? subject : withWhat(subject, `${subject.server},${redacted}`);
}

function withWhat(subject: LedgerSubject, what: string): LedgerSubject {
  return { ...subject, what, text: `${what},${subject.who},${subject.decision}`, frame: undefined };
}
