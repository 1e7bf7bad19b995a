import type { SourceRef } from './fleet.ts';

export type RuleEffect = 'allow' | 'require-approval' | 'deny';

/** What the policy says of one operation, and why. */
export interface Decision {
  readonly effect: 'allow' | 'ask' | 'deny';
  readonly reason: DecisionReason;
}

/** Kept structured so that the operator's explanation can name file and line. */
export type DecisionReason =
  | { readonly kind: 'default' }
  | { readonly kind: 'not-routed'; readonly agent: string }
  | { readonly kind: 'not-included'; readonly by: string; readonly source: SourceRef }
  | { readonly kind: 'excluded'; readonly by: string; readonly source: SourceRef }
  | { readonly kind: 'rule'; readonly pattern: string; readonly source: SourceRef; readonly agent?: string };
