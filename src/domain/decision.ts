import type { Caller } from './caller.ts';
import { placeOf, type SourceRef } from './configuration.ts';
import type { WithheldReason } from './definition-lock.ts';
import type { Holds } from './rule-condition.ts';

/** What a tool does to the world. A destructive tool also writes. */
export type ToolClass = 'read' | 'write' | 'destructive';

export type RuleEffect = 'allow' | 'require-approval' | 'deny';

/** Why a tool counts as writing: the list of known servers, its annotation, no annotation, or an untrusted one. */
export type ToolKindReason = 'known-server' | 'annotation' | 'no-word' | 'untrusted-annotation';

/** Why a URI is refused, whatever the rules allow. */
export type UriProblem =
  | 'ambiguous-path'
  | 'control-character'
  | 'encoded-too-often'
  | 'too-many-forms'
  | 'too-much-work';

/** The policy's decision on one operation, with its reason. */
export interface Decision {
  readonly effect: 'allow' | 'ask' | 'deny';
  readonly reason: DecisionReason;
  /**
   * Decides again on the arguments of a call. The decision that carries a condition is the one that lists go by: it
   * denies only what is denied whatever the arguments are.
   */
  readonly condition?: DecisionCondition;
  /** What the shadow policy would decide on a call, for its record alone. Undefined if there is none. */
  readonly shadow?: DecisionCondition;
}

export type DecisionCondition = (call: CallToDecide) => Decision;

/** What a condition may look at. */
export interface CallToDecide {
  readonly args: CallArguments;
  /** Undefined if nobody calls: an operator asks how a call would be decided. */
  readonly caller?: Caller | undefined;
  /** The labels of the caller's run. Undefined: not known. */
  readonly labels?: ReadonlySet<string> | undefined;
  /** What paths in the arguments mean to the server that gets them. */
  readonly paths?: ArgumentPaths | undefined;
}

/** Tests a text in time linear in its length. Node's own expressions can take exponential time on an agent's text. */
export type TextPattern = (text: string) => boolean;

/** Judges texts that a server takes as paths, in every way the server may read them. */
export interface ArgumentPaths {
  /** `argument` as rules name it: `a.*` is every item of a list. `folder` is relative to the workspace. */
  isInside(argument: string, text: string, folder: string): Holds;
  /** Undefined if the argument of the tool is not known to be a path. */
  matchesGlob(argument: string, text: string, glob: TextPattern): Holds | undefined;
}

/** Parsed arguments. */
export type CallArguments = Readonly<Record<string, unknown>>;

/** The decision on one call. */
export function decideOn(decision: Decision, call: CallToDecide): Decision {
  return decision.condition === undefined ? decision : decision.condition(call);
}

/** The rule or setting that decided, as the ledger names it; null where no rule matched. */
export function ruleOf({ reason }: Decision): string | null {
  switch (reason.kind) {
    case 'default':
      return null;
    case 'rule':
      return reason.pattern;
    case 'not-included':
      return `include list of ${reason.by}`;
    case 'excluded':
      return `exclude list of ${reason.by}`;
    case 'not-routed':
      return `servers of agent ${reason.agent}`;
    case 'no-scope':
    case 'read-only':
    case 'write-approval':
      return `${reason.kind} of server ${reason.server}`;
    case 'too-long':
    case 'unsafe-uri':
    case 'protected-path':
    case 'unclear-path':
    case 'definition-changed':
      return reason.kind;
  }
}

/** Where that rule or setting is written, as `file:line`; null where it is in no file. */
export function ruleSourceOf({ reason }: Decision): string | null {
  return 'source' in reason ? placeOf(reason.source) : null;
}

/** Structured, so that explanations can name file and line. */
export type DecisionReason =
  | { readonly kind: 'default' }
  /** The URI or name exceeds the limit and is not examined. */
  | { readonly kind: 'too-long'; readonly limit: number }
  /** A URI that no client needs to send and that servers may interpret in different ways. */
  | { readonly kind: 'unsafe-uri'; readonly problem: UriProblem }
  /** A path that file servers never get, unless `allowPaths` lists it. */
  | { readonly kind: 'protected-path'; readonly path: string }
  /** A path of which nobody can say where it leads. */
  | { readonly kind: 'unclear-path' }
  /** The definition is not the one in the lockfile. */
  | { readonly kind: 'definition-changed'; readonly why: WithheldReason }
  | { readonly kind: 'not-routed'; readonly agent: string }
  | { readonly kind: 'not-included'; readonly by: string; readonly source: SourceRef }
  | { readonly kind: 'excluded'; readonly by: string; readonly source: SourceRef }
  /** The server's list of scopes is empty. */
  | { readonly kind: 'no-scope'; readonly server: string; readonly source: SourceRef }
  /** The server is read-only, and the tool is not known to be. */
  | {
      readonly kind: 'read-only';
      readonly server: string;
      readonly because: ToolKindReason;
      readonly source: SourceRef;
    }
  /** The tool may write, and its server requires approval for that. */
  | {
      readonly kind: 'write-approval';
      readonly server: string;
      readonly because: ToolKindReason;
      readonly source: SourceRef;
    }
  | {
      readonly kind: 'rule';
      readonly pattern: string;
      readonly source: SourceRef;
      readonly agent?: string;
      /** What the rule is limited to, as written. */
      readonly limits?: string;
      /** What its author tells the agent or the person who is asked. */
      readonly message?: string;
      /** Who may approve. Undefined: any operator. */
      readonly approvers?: readonly string[];
    };

/** Longer URIs belong to no server. The limit bounds the work per URI. */
export const maxUriLength = 2048;
