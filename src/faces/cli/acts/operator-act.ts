import type { AdminAct, AdminEvent } from '../../../ledger/index.ts';

/** An act of the operator by a command. */
export type OperatorAct = Pick<AdminEvent, 'what' | 'subject' | 'detail'>;

/** Takes rights away. Such an act is done even if it cannot be recorded: a full disk must not keep a stolen token valid. */
export function isNarrowing(what: AdminAct): boolean {
  return narrowing.has(what);
}

const narrowing: ReadonlySet<AdminAct> = new Set([
  'secret.removed',
  'server.disabled',
  'server.removed',
  'token.revoked',
  'trust.declined',
  'trust.revoked',
]);
