import type { Redact } from './redact.ts';

/** An act that changes rights, settings or what is kept. It never contains a value. */
export interface AdminEvent {
  /** Who did it: `operator`, `hub`, or the name of a person. */
  readonly who: string;
  readonly what: 'config.applied' | 'approval.decided' | 'approval.resolved' | 'grant.created' | 'grant.revoked';
  /** The thing that it is about. */
  readonly subject?: string;
}

export function adminRecord({ who, what, subject = '' }: AdminEvent, ts: string, redact: Redact): string {
  return `${JSON.stringify({ k: 'admin', ts, who, what, subject: redact.message(subject, longestSubject) })}\n`;
}

const longestSubject = 1024;
