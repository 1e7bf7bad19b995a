import { fdatasync } from 'node:fs';
import { promisify } from 'node:util';
import { toHubError } from '../base/index.ts';
import type { OpenCall } from './ledger.ts';
import { recordNotWritten } from './ledger-errors.ts';
import { type DecisionFacts, decidedSubject } from './records/call-text.ts';

/** The decision on a call that was held: its later records have this one. */
export function redecide(call: OpenCall, facts: DecisionFacts): void {
  if (call.stage === 'open' || call.stage === 'held') call.subject = decidedSubject(call.subject, facts);
}

/** Resolves when the last record of the call would survive a power cut. The file is open as long as the call is. */
export async function syncRecord({ file }: OpenCall): Promise<void> {
  if (file === undefined) return;
  await promisify(fdatasync)(file.fd).catch((error: unknown) => Promise.reject(recordNotWritten(toHubError(error))));
}
