import { type ApprovalStatistics, type Approvals, type CallApproval, openApprovals } from '../../approvals/index.ts';
import { HubError, toHubError } from '../../base/index.ts';
import type { CallPathDeps } from '../../calls/index.ts';
import type { ApprovalSettings } from '../../domain/index.ts';
import { type CallLine, readRecordedCalls } from '../../ledger/index.ts';
import { acquireLock, createFileApprovalStore, ensureStateKey, type Lock, ledgerPlaces } from '../../storage/index.ts';
import { createTextSeal } from '../../vault/index.ts';
import type { EmitEvent } from '../events/event-emitter.ts';
import type { HubDeps } from '../hub.ts';
import type { ProcessParts } from '../process-parts.ts';
import { createFateOf } from './call-fates.ts';
import { approvalEvent, recordChange } from './tell-changes.ts';

/** The approvals of one hub. They are read when they are first needed, because most workspaces have none. */
export interface HubApprovals {
  /** Throws HubError if another hub of the workspace has them. */
  opened(): Promise<Approvals>;
  /** Undefined while nothing was read. */
  readonly numbers: ApprovalStatistics | undefined;
  /** Where a person decides on it. */
  linkTo(id: string): string | undefined;
  /** JSON text of a call's arguments, without secrets; `null` if they were dropped. */
  masked(argumentsText: string): string;
  /** What the run of the call did before, the newest last. */
  callsBefore(approval: CallApproval, limit: number): Promise<readonly CallLine[]>;
}

export interface HubApprovalOptions {
  settings(): ApprovalSettings;
  readonly emit: EmitEvent;
}

type ForCalls = NonNullable<CallPathDeps['approvals']>;

export interface OwnApprovals extends HubApprovals {
  readonly forCalls: ForCalls;
  close(): Promise<void>;
}

export function createHubApprovals(deps: HubDeps, parts: ProcessParts, options: HubApprovalOptions): OwnApprovals {
  const { operator = 'operator', approvalLink } = deps;
  let opening: Promise<OpenedApprovals> | undefined;
  let current: Approvals | undefined;

  /** What fails is tried again with the next use: another hub may have ended by then. */
  async function opened(): Promise<Approvals> {
    opening ??= open(deps, parts, options).catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    current = (await opening).approvals;
    return current;
  }

  const linkTo = (id: string): string | undefined => approvalLink?.(id);
  const forCalls: ForCalls = {
    ask: async (...given) => (await opened()).ask(...given),
    claim: async (...given) => (await opened()).claim(...given),
    release: async (...given) => (await opened()).release(...given),
    ended: (...given) => current?.ended(...given),
    waitMs: () => options.settings().waitMs,
    linkTo,
    // Tokens are issued by whoever runs the hub, and nobody else calls without one.
    askerOf: () => operator,
  };
  return {
    opened,
    get numbers() {
      return current?.numbers;
    },
    linkTo,
    masked: (text) => parts.redaction.json(text === '' ? 'null' : text),
    async callsBefore({ question }, limit) {
      await parts.ledger.flush();
      const { source, calls } = await readRecordedCalls(ledgerPlaces(parts.layout), { run: question.runId, limit });
      return source === 'journal' ? calls.map(({ call }) => call) : [];
    },
    forCalls,
    async close() {
      const last = await opening?.catch(() => undefined);
      await last?.approvals.close();
      await last?.lock.release();
    },
  };
}

interface OpenedApprovals {
  readonly approvals: Approvals;
  readonly lock: Lock;
}

async function open(deps: HubDeps, parts: ProcessParts, options: HubApprovalOptions): Promise<OpenedApprovals> {
  const { clock, logger, random } = deps;
  const { layout, ledger } = parts;
  const lock = await acquireLock(layout, 'approvals', { clock, random, waitMs: 0 }).catch((error: unknown) =>
    Promise.reject(elsewhere(error)),
  );
  try {
    const seal = createTextSeal({ random }, await ensureStateKey(layout, random), 'approvals');
    const approvals = await openApprovals({
      clock,
      logger,
      random,
      store: createFileApprovalStore(layout, { logger, random, seal }),
      fateOf: createFateOf(parts, clock),
      rules: () => options.settings(),
      onChange(change) {
        const event = approvalEvent(change);
        if (event !== undefined) options.emit(event);
        recordChange({ ledger, logger }, change);
      },
    });
    return { approvals, lock };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

function elsewhere(error: unknown): HubError {
  const known = toHubError(error);
  if (known.code !== 'STATE_LOCKED') return known;
  return new HubError('APPROVAL_UNAVAILABLE', 'Another hub of this workspace has the approvals.', {
    hint: 'Nothing was sent. End the other program, or send the call through its hub.',
    cause: error,
  });
}
