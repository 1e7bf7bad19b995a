import type { ApprovalKind } from '../../approvals/index.ts';
import type { DefinitionChange, ServerState } from '../../domain/index.ts';
import type { DefinitionFinding } from '../../governance/index.ts';

/** Events of servers, lists, configuration and sessions. Calls are in the ledger. */
export type HubEvent = EventFacts & {
  /** Milliseconds since the epoch. */
  readonly time: number;
};

/** An event without its time. */
export type EventFacts = ProjectEvent | ProcessEvent;

/** Belongs to one project. */
export type ProjectEvent = ProjectFacts & { readonly project: string };

export type ProjectFacts = ServerFacts | DefinitionFacts | ConfigFacts | ClientFacts | ApprovalFacts;

type ServerFacts =
  | {
      readonly type: 'server.state';
      readonly server: string;
      readonly state: ServerState;
      /** Absent for a server that is new. */
      readonly previous?: ServerState;
      readonly error?: string;
      /** When the next attempt is due, and how many have failed in a row. */
      readonly retryAt?: number;
      readonly attempt?: number;
    }
  | { readonly type: 'server.removed'; readonly server: string }
  | {
      readonly type: 'catalog.changed';
      readonly server: string;
      /** The counts of the server's entries. Absent while its lists are withdrawn because it is unavailable. */
      readonly count?: {
        readonly tools: number;
        readonly resources: number;
        readonly templates: number;
        readonly prompts: number;
      };
    }
  /** The findings in the definitions of a server changed. Some of those that nobody acknowledged, and how many there are. */
  | {
      readonly type: 'catalog.findings';
      readonly server: string;
      readonly count: number;
      readonly findings: readonly DefinitionFinding[];
    };

type DefinitionFacts = {
  readonly type: 'definition.changed';
  readonly server: string;
  /** The differences from the accepted definitions, at most 20. */
  readonly changes: readonly DefinitionChange[];
  /** Of all differences. Zero: there are none any more. */
  readonly count: number;
  /** Agents do not get the definitions that differ. */
  readonly withheld: boolean;
};

type ConfigFacts =
  | {
      readonly type: 'config.applied';
      readonly servers: number;
      readonly problems: number;
    }
  | { readonly type: 'config.refused'; readonly file?: string; readonly message: string }
  | {
      readonly type: 'config.retained';
      readonly file: string;
      readonly reason: 'missing' | 'empty' | 'unreadable';
      readonly message: string;
    }
  | { readonly type: 'config.restored'; readonly file: string }
  /** Items that nobody approved: the names of servers, and whether the policy is one. */
  | {
      readonly type: 'trust.pending';
      readonly servers: readonly string[];
      readonly policy: boolean;
    };

type ClientFacts =
  | {
      readonly type: 'session.opened';
      readonly session: string;
      readonly agent: string;
      readonly run: string;
      /** Absent if the operator acts as the agent. */
      readonly tokenId?: string;
    }
  | { readonly type: 'session.closed'; readonly session: string; readonly agent: string };

/** Never has arguments. */
type ApprovalFacts = {
  readonly type: 'approval.opened' | 'approval.decided' | 'approval.claimed' | 'approval.closed';
  readonly id: string;
  readonly agent: string;
  readonly server: string;
  readonly tool: string;
  readonly state: ApprovalKind;
  /** When the question ends, in milliseconds since the epoch. */
  readonly expires: number;
  /** Who decided. */
  readonly by?: string;
};

/** Belongs to the process, or to one listener. */
export type ProcessEvent =
  | { readonly type: 'hub.stopping' }
  /** The listener was too slow, and this many events were dropped. */
  | { readonly type: 'events.lost'; readonly count: number };
