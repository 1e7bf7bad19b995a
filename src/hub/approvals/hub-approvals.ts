import {
  type ApprovalStatistics,
  type Approvals,
  type CallApproval,
  openApprovals,
  PageSessions,
} from '../../approvals/index.ts';
import { HubError, toHubError } from '../../base/index.ts';
import type { CallPathDeps } from '../../calls/index.ts';
import type { Configuration } from '../../domain/index.ts';
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
  /** The page of an approval. It opens only for whoever has a one-time link, so agents may know it. */
  linkTo(id: string): string | undefined;
  readonly links: PageSessions;
  /** A link for one person that opens the page of an open approval once. Throws HubError if there is no page. */
  oneTimeLink(id: string, approver: string): Promise<OneTimeUrl>;
  /** JSON text of a call's arguments, without secrets; `null` if they were dropped. */
  masked(argumentsText: string): string;
  /** What the run of the call did before, the newest last. */
  callsBefore(approval: CallApproval, limit: number): Promise<readonly CallLine[]>;
}

export interface OneTimeUrl {
  readonly url: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

export interface HubApprovalOptions {
  configuration(): Pick<Configuration, 'approvals' | 'serve'>;
  readonly emit: EmitEvent;
}

type ForCalls = NonNullable<CallPathDeps['approvals']>;

export interface OwnApprovals extends HubApprovals {
  readonly forCalls: ForCalls;
  close(): Promise<void>;
}

export function createHubApprovals(deps: HubDeps, parts: ProcessParts, options: HubApprovalOptions): OwnApprovals {
  const { operator = 'operator', ownUrl } = deps;
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

  const links = new PageSessions(deps);
  const linkTo = (id: string): string | undefined => {
    const base = ownUrl?.();
    return base === undefined ? undefined : `${options.configuration().serve.publicUrl ?? base}/approvals/${id}`;
  };
  const forCalls: ForCalls = {
    ask: async (...given) => (await opened()).ask(...given),
    claim: async (...given) => (await opened()).claim(...given),
    release: async (...given) => (await opened()).release(...given),
    ended: (...given) => current?.ended(...given),
    waitMs: () => options.configuration().approvals.waitMs,
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
    links,
    async oneTimeLink(id, approver) {
      const approvals = await opened();
      const { expires } = approvals.expectOpen(id);
      const page = linkTo(id);
      if (page === undefined) throw noPage(id);
      return { url: `${page}?key=${links.create(id, approver, expires)}`, expires };
    },
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
      rules: () => options.configuration().approvals,
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

function noPage(id: string): HubError {
  return new HubError('APPROVAL_UNAVAILABLE', `Approval ${id} has no page, because the hub has no port.`, {
    hint: 'Run `qm serve`, which has the page, or decide with `qm approvals approve` or `deny`.',
  });
}

function elsewhere(error: unknown): HubError {
  const known = toHubError(error);
  if (known.code !== 'STATE_LOCKED') return known;
  return new HubError('APPROVAL_UNAVAILABLE', 'Another hub of this workspace has the approvals.', {
    hint: 'Nothing was sent. End the other program, or send the call through its hub.',
    cause: error,
  });
}
