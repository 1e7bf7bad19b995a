import type { Redact } from './redact.ts';

/** Acts that change rights or settings, by the thing that they are about. */
export const adminActs = [
  'approval.decided',
  'approval.resolved',
  'config.applied',
  'definitions.accepted',
  'grant.created',
  'grant.revoked',
  'secret.key-changed',
  'secret.removed',
  'secret.set',
  'server.added',
  'server.disabled',
  'server.enabled',
  'server.removed',
  'token.adopted',
  'token.issued',
  'token.revoked',
  'trust.approved',
  'trust.declined',
  'trust.revoked',
] as const;
export type AdminAct = (typeof adminActs)[number];

/** `terminal`: a command that a person could answer. `command`: one without a terminal. Both are the command's word. */
export const actOrigins = ['terminal', 'command', 'api', 'page', 'hub'] as const;
export type ActOrigin = (typeof actOrigins)[number];

/** An act in the audit log. It never contains a value. */
export interface AdminEvent {
  /** Who did it: `operator`, `hub`, or the name of a person. */
  readonly who: string;
  readonly how: ActOrigin;
  readonly what: AdminAct;
  /** The thing that it is about. */
  readonly subject: string;
  readonly detail?: string | undefined;
  /** An earlier record announced it, and then it did not happen. */
  readonly failed?: boolean | undefined;
}

export function adminRecord(event: AdminEvent, ts: string, redact: Redact): string {
  const { who, how, what, subject, detail, failed } = event;
  const short = (text: string): string => redact.message(text, longestText);
  const more = { ...(detail === undefined ? {} : { detail: short(detail) }), ...(failed === true ? { failed } : {}) };
  return `${JSON.stringify({ k: 'admin', ts, who: short(who), how, what, subject: short(subject), ...more })}\n`;
}

const longestText = 1024;
