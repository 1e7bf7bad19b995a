import type { SourceRef } from './fleet.ts';

export type RuleEffect = 'allow' | 'require-approval' | 'deny';

/** Why a tool counts as writing: our own list of known servers, what the server says, or that nobody says anything. */
export type ToolKindReason = 'known-server' | 'annotation' | 'no-word' | 'untrusted-annotation';

/** Why a URI is refused whatever rules say. */
export type UriProblem = 'control-character' | 'encoded-too-often' | 'too-many-forms';

/** What the policy says of one operation, and why. */
export interface Decision {
  readonly effect: 'allow' | 'ask' | 'deny';
  readonly reason: DecisionReason;
}

/** Kept structured so that the operator's explanation can name file and line. */
export type DecisionReason =
  | { readonly kind: 'default' }
  /** A URI or name of so many characters is not looked at. */
  | { readonly kind: 'too-long'; readonly limit: number }
  /** A URI that no client needs to write, and that servers may read in many ways. */
  | { readonly kind: 'unsafe-uri'; readonly problem: UriProblem }
  | { readonly kind: 'not-routed'; readonly agent: string }
  | { readonly kind: 'not-included'; readonly by: string; readonly source: SourceRef }
  | { readonly kind: 'excluded'; readonly by: string; readonly source: SourceRef }
  /** The server has a list of scopes with nothing in it. */
  | { readonly kind: 'no-scope'; readonly server: string; readonly source: SourceRef }
  /** The server is read-only and the tool is not known to only read. */
  | {
      readonly kind: 'read-only';
      readonly server: string;
      readonly because: ToolKindReason;
      readonly source: SourceRef;
    }
  /** The tool may write, and its server wants a human to approve that. */
  | {
      readonly kind: 'write-approval';
      readonly server: string;
      readonly because: ToolKindReason;
      readonly source: SourceRef;
    }
  | { readonly kind: 'rule'; readonly pattern: string; readonly source: SourceRef; readonly agent?: string };

/** Longer URIs belong to nobody, so that the work on one is bounded. */
export const maxUriLength = 2048;
