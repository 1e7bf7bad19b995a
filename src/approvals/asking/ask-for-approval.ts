import { createId, HubError } from '../../base/index.ts';
import { type ApprovalParts, approvalLimits } from '../approval-parts.ts';
import type { ApprovalWait, AskOutcome, GrantHold } from '../approvals.ts';
import type { ApprovalRequest, Approver, CallApproval } from '../model/call-approval.ts';
import { type CallBinding, callKeyOf, changedConditions } from '../model/call-binding.ts';
import { expired, kindAt, voided } from '../model/decide-approval.ts';
import { covers } from '../model/standing-grant.ts';

/** Finds a grant, or opens a question and waits for the decision on it. */
export async function askForApproval(
  parts: ApprovalParts,
  binding: CallBinding,
  question: ApprovalRequest,
  { ms, signal, onAsked }: ApprovalWait,
): Promise<AskOutcome> {
  const { clock, waiting } = parts;
  checkLength(binding);
  const callKey = callKeyOf(binding);
  const until = clock.monotonic() + ms;
  for (let asked: CallApproval | undefined; ; ) {
    const found = await findDecision(parts, binding, callKey, asked?.id);
    if (found?.kind !== 'pending' && found !== undefined) return found;
    const approval = found?.approval ?? (await open(parts, binding, callKey, question));
    if (asked?.id !== approval.id) onAsked?.(approval);
    asked = approval;
    const left = Math.min(until - clock.monotonic(), approval.expires - clock.now());
    const agent = originOf(binding);
    const mayWait = waiting.of(agent) < approvalLimits.waitingPerAgent && waiting.count < approvalLimits.waiting;
    if (mayWait && left > 0) await waiting.wait(approval.id, agent, left, signal);
    const over = !mayWait || signal.aborted || clock.monotonic() >= until || waiting.isClosed;
    if (over && isOpen(parts, approval.id)) return { kind: 'pending', approval };
  }
}

/**
 * The decision on the call, if there is one. `asked`: the question that this call waits for. A question that others of
 * the same call have used up is not this call's any more.
 */
async function findDecision(
  parts: ApprovalParts,
  binding: CallBinding,
  callKey: string,
  asked: string | undefined,
): Promise<AskOutcome | undefined> {
  const { book, clock } = parts;
  const standing = standingGrant(parts, binding);
  if (standing !== undefined) return { kind: 'granted', hold: standing };
  const now = clock.now();
  const all = book.ofCall(callKey);
  const free = all.find((each) => kindAt(each, now) === 'approved' && !parts.reserved.has(each.id));
  const approval = free ?? all.at(-1);
  if (approval === undefined) return undefined;
  const kind = kindAt(approval, now);
  if (kind === 'open' || kind === 'approved') {
    const changed = changedConditions(approval.binding, binding);
    if (changed.length > 0) {
      await makeVoid(parts, approval, `${changed.join(' and ')} changed`);
      return undefined;
    }
  }
  switch (kind) {
    case 'open':
      return { kind: 'pending', approval };
    case 'approved':
      return parts.reserved.has(approval.id)
        ? undefined
        : { kind: 'granted', hold: reserve(parts, approval.id, approval) };
    case 'denied':
      return approval.state.kind === 'denied' && now < approval.state.until ? { kind: 'denied', approval } : undefined;
    case 'expired':
      await expire(parts, approval);
      return approval.id === asked ? { kind: 'expired', approval } : undefined;
    default:
      return undefined;
  }
}

function standingGrant(parts: ApprovalParts, binding: CallBinding): GrantHold | undefined {
  const { book, clock, reserved } = parts;
  for (const grant of book.grants.values()) {
    const used = grant.used + (reserved.get(grant.id) ?? 0);
    if (covers({ ...grant, used }, binding, clock.now())) return reserve(parts, grant.id, grant);
  }
  return undefined;
}

function reserve({ reserved }: ApprovalParts, id: string, of: CallApproval | { readonly by: Approver }): GrantHold {
  reserved.set(id, (reserved.get(id) ?? 0) + 1);
  let isHeld = true;
  return {
    id,
    by: 'by' in of ? of.by : approverOf(of),
    letGo() {
      if (!isHeld) return;
      isHeld = false;
      const left = (reserved.get(id) ?? 1) - 1;
      if (left > 0) reserved.set(id, left);
      else reserved.delete(id);
    },
  };
}

function approverOf({ state, id }: CallApproval): Approver {
  if (state.kind === 'approved') return state.by;
  throw new HubError('INTERNAL', `Approval ${id} was taken before it was approved.`);
}

/** Equal calls that come at once share one question. */
function open(
  parts: ApprovalParts,
  binding: CallBinding,
  callKey: string,
  question: ApprovalRequest,
): Promise<CallApproval> {
  const { opening } = parts;
  const already = opening.get(callKey);
  if (already !== undefined) return already.stored;
  checkRoom(parts, binding);
  const stored = store(parts, binding, callKey, question).finally(() => opening.delete(callKey));
  opening.set(callKey, { origin: originOf(binding), stored });
  return stored;
}

async function store(
  parts: ApprovalParts,
  binding: CallBinding,
  callKey: string,
  question: ApprovalRequest,
): Promise<CallApproval> {
  const { book, clock, random, rules } = parts;
  const opened = clock.now();
  const approval: CallApproval = {
    id: createId(random, idLength),
    version: 1,
    callKey,
    binding,
    question,
    opened,
    expires: opened + rules().expiresMs,
    seen: [],
    state: { kind: 'open' },
  };
  await book.add({ kind: 'approval', value: approval });
  parts.onChange({ type: 'approval.opened', approval });
  return approval;
}

/** What an agent delegates counts as its own. */
function originOf({ chain }: CallBinding): string {
  return chain.at(-1) ?? '';
}

const idLength = 12;

/** Its time is over and nobody decided, or nobody called. */
export async function expire(parts: ApprovalParts, { id }: CallApproval): Promise<void> {
  const { book, clock } = parts;
  const ended = await book.change(id, (current) => {
    const now = clock.now();
    const isDue = kindAt(current, now) === 'expired' && current.state.kind !== 'expired';
    return isDue ? expired(current, now) : undefined;
  });
  if (ended === undefined) return;
  parts.counts.decided.expired++;
  parts.onChange({ type: 'approval.closed', approval: ended });
  parts.waiting.wake(id);
}

/** Something that it depends on has changed. */
export async function makeVoid(parts: ApprovalParts, { id }: Pick<CallApproval, 'id'>, why: string): Promise<void> {
  const { book, clock } = parts;
  const ended = await book.change(id, (current) =>
    ['open', 'approved', 'claimed'].includes(current.state.kind) ? voided(current, clock.now(), why) : undefined,
  );
  if (ended === undefined) return;
  parts.counts.decided.void++;
  parts.onChange({ type: 'approval.closed', approval: ended });
  parts.waiting.wake(id);
}

function isOpen({ book, clock }: ApprovalParts, id: string): boolean {
  const approval = book.approvals.get(id);
  return approval !== undefined && kindAt(approval, clock.now()) === 'open';
}

function checkLength({ arguments: args, inputs, server, subject }: CallBinding): void {
  const length = args.length + inputs.length;
  if (length <= approvalLimits.argumentsLength) return;
  throw new HubError(
    'REQUEST_TOO_LARGE',
    `${server}.${subject} requires approval, and nobody can judge ${length} characters of arguments; ${approvalLimits.argumentsLength} are allowed.`,
    { hint: 'Nothing was sent. Call it with less.', details: { server, tool: subject } },
  );
}

function checkRoom({ book, clock, opening }: ApprovalParts, binding: CallBinding): void {
  const { server, subject } = binding;
  const now = clock.now();
  const isOpenNow = (approval: CallApproval): boolean => kindAt(approval, now) === 'open';
  const origins = [
    ...[...book.approvals.values()].filter(isOpenNow).map((approval) => originOf(approval.binding)),
    ...[...opening.values()].map(({ origin }) => origin),
  ];
  const all = origins.length;
  const own = origins.filter((origin) => origin === originOf(binding)).length;
  if (all < approvalLimits.open && own < approvalLimits.openPerAgent) return;
  const open = own < approvalLimits.openPerAgent ? `${all} questions of all agents` : `${own} questions of this agent`;
  throw new HubError('OVERLOADED', `${server}.${subject} requires approval, and ${open} are open already.`, {
    hint: 'Nothing was sent. Wait until somebody has decided on some of them, or until they expire.',
    details: { server, tool: subject },
  });
}
