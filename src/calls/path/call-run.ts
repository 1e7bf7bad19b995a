import type { CallApprovals, CallBinding, ClaimedGrant, GrantHold } from '../../approvals/index.ts';
import { type Clock, HubError, type LinkedList, type RandomBytes } from '../../base/index.ts';
import type { Caller, Decision } from '../../domain/index.ts';
import type { Ledger, LedgerConnection, OpenCall } from '../../ledger/index.ts';
import type { TaskIds } from '../../mcp/index.ts';
import type { Connection, UpstreamDispatch } from '../../upstream/index.ts';
import type { AgentBudgets } from '../agent-budgets.ts';
import type { Call, CallEndState } from '../call.ts';
import type { CallRates } from '../call-rates.ts';
import type { RootsFilter } from '../input-required/client-roots.ts';
import type { SessionUis } from '../mcp-apps/session-uis.ts';
import type { CallMeter } from '../observing/call-meter.ts';
import type { TracedCalls } from '../observing/traced-calls.ts';
import type { RefusedCalls } from '../refusal-records.ts';
import type { RunLabels } from '../run-labels.ts';
import type { Target } from '../target.ts';
import type { Views } from '../views/views.ts';

export interface CallPathDeps {
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly ledger: Ledger;
  readonly views: Views;
  readonly taskIds: TaskIds;
  readonly refused: RefusedCalls;
  /** Calls that have not ended; the hub waits for them when it stops. */
  readonly inFlight: LinkedList<Call>;
  /** Undefined: no agent has a budget. */
  readonly budgets?: AgentBudgets | undefined;
  /** Undefined: no run has labels. */
  readonly labels?: RunLabels | undefined;
  /** Undefined: nobody can be asked, so calls that require approval are refused. */
  readonly approvals?: HeldCallDeps | undefined;
  readonly meter?: CallMeter | undefined;
  readonly traced?: TracedCalls | undefined;
  /** For servers that get the roots of their clients. */
  readonly filterRoots: RootsFilter;
  isStopping(): boolean;
}

/** What holding a call needs. */
export interface HeldCallDeps extends CallApprovals {
  /** How long calls wait for a decision. Undefined: as long as their clients do. */
  waitMs(): number | undefined;
  /** Where a person decides; undefined if there is no such page. */
  linkTo(id: string): string | undefined;
  /** Who is behind the call: who started it, or issued its token. */
  askerOf(caller: Caller): string;
}

/** Shared by all runs. */
export interface CallPath extends CallPathDeps {
  readonly rates: CallRates;
  readonly uis: SessionUis;
  /** The ledger's text for a connection. */
  readonly ledgerConnectionOf: (connection: Connection) => LedgerConnection;
}

/** The state of one call on its path. Each step uses the fields that earlier steps have set. */
export class CallRun {
  readonly path: CallPath;
  readonly call: Call;
  /** On the monotonic clock. */
  readonly startedAt: number;
  /** Set by `find`, if the name is in the agent's view. */
  found: Target | undefined;
  /** Set if an app's name for a tool belongs to several servers. */
  ambiguous: readonly string[] | undefined;
  /** Set by `admit`: the decision on this call. */
  decision: Decision | undefined;
  opened: OpenCall | undefined;
  /** Set by `hold`: the grant that this call may claim. */
  hold: GrantHold | undefined;
  /** The call as it was when `hold` asked. */
  heldFor: CallBinding | undefined;
  /** Set before the call is recorded as sent: the grant that it has used up. */
  claimed: ClaimedGrant | undefined;
  /** Set by `reach`: the call's slot at the server. */
  entered: UpstreamDispatch | undefined;
  connected: Connection | undefined;
  /** What the call takes from its agent's budget for arguments. */
  countedArguments = 0;
  /** How often the call was sent again. */
  retries = 0;
  /** The caller's answers that were sent last, as members of `params`. */
  inputs: string;
  /** A run that throws counts as failed. */
  endState: CallEndState = 'failed';

  constructor(path: CallPath, call: Call) {
    this.path = path;
    this.call = call;
    this.startedAt = path.clock.monotonic();
    this.inputs = call.request.inputs ?? '';
  }

  get target(): Target {
    return this.found ?? outOfOrder('target');
  }

  get record(): OpenCall {
    return this.opened ?? outOfOrder('record');
  }

  get dispatch(): UpstreamDispatch {
    return this.entered ?? outOfOrder('server');
  }

  get connection(): Connection {
    return this.connected ?? outOfOrder('connection');
  }

  get durationMs(): number {
    return this.path.clock.monotonic() - this.startedAt;
  }
}

function outOfOrder(what: string): never {
  throw new HubError('INTERNAL', `A step of a call came before the call had its ${what}.`);
}
