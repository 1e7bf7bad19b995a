import type { OpenCall } from '../ledger.ts';
import type { ArgumentBudget } from './argument-budget.ts';
import { argumentsMember, longestOverBudget } from './cut-text.ts';
import type { Redact } from './redact.ts';

/** Gives the call the text of its arguments, unless it has it for good. */
export function recordArguments(
  { redact, argumentBudget }: { readonly redact: Redact; readonly argumentBudget: ArgumentBudget },
  call: OpenCall,
  longest: number,
): void {
  const { raw, subject } = call;
  if (raw === undefined) return;
  // Short ones, which nearly all calls have, are not counted.
  const isShort = raw.length <= longestOverBudget;
  const isKept = isShort || argumentBudget.take(subject.origin, Math.min(raw.length, longest));
  call.args = argumentsMember(raw, isKept ? longest : longestOverBudget, redact);
}
