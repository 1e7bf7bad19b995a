import { createId, HubError } from '../base/index.ts';
import { type ApprovalParts, approvalLimits } from './approval-parts.ts';
import type { ApprovalDecisions, ApprovedCall } from './approvals.ts';
import type { ApprovalKind, Approver, CallApproval } from './model/call-approval.ts';
import { callKeyOf } from './model/call-binding.ts';
import { approved, approvedAsGrant, denied, expectOpen, kindAt, lookedAt, resolved } from './model/decide-approval.ts';
import { type GrantTerms, grantOf, isGrantAlive } from './model/standing-grant.ts';
import { expectMayDecide } from './model/who-decides.ts';

/** What people do with approvals. */
export class Decisions implements ApprovalDecisions {
  readonly #parts: ApprovalParts;

  constructor(parts: ApprovalParts) {
    this.#parts = parts;
  }

  list(): readonly CallApproval[] {
    return [...this.#parts.book.approvals.values()].sort((a, b) => a.opened - b.opened);
  }

  get(id: string): CallApproval {
    const approval = this.#parts.book.approvals.get(id);
    if (approval !== undefined) return approval;
    throw new HubError('APPROVAL_UNKNOWN', `There is no approval "${id.slice(0, 40)}".`, {
      hint: '`qm approvals ls` shows those that are open.',
    });
  }

  expectOpen(id: string): CallApproval {
    const approval = this.get(id);
    expectOpen(approval, this.#parts.clock.now());
    return approval;
  }

  stateOf(approval: CallApproval): ApprovalKind {
    return kindAt(approval, this.#parts.clock.now());
  }

  lastApproved({ id, binding }: CallApproval): CallApproval | undefined {
    const same = this.list().filter(
      (other) =>
        other.id !== id &&
        other.binding.server === binding.server &&
        other.binding.subject === binding.subject &&
        other.binding.arguments !== '' &&
        ['claimed', 'spent', 'unknown', 'closed'].includes(other.state.kind),
    );
    return same.at(-1);
  }

  grants() {
    const { book, clock } = this.#parts;
    return [...book.grants.values()].filter((grant) => isGrantAlive(grant, clock.now()));
  }

  async approve(id: string, by: Approver, terms?: GrantTerms): Promise<ApprovedCall> {
    const { book, clock, rules, waiting } = this.#parts;
    if (terms === undefined) {
      const approval = await this.#decide(id, by, (current) =>
        approved(current, { by, now: clock.now() }, rules().expiresMs),
      );
      waiting.wake(id);
      return { approval };
    }
    this.#checkTerms(terms);
    const facts = { id: createId(this.#parts.random, grantIdLength), approval: id, created: clock.now(), by };
    const { binding } = this.get(id);
    const approval = await this.#decide(id, by, (current) =>
      approvedAsGrant(current, { by, now: clock.now() }, facts.id),
    );
    const grant = grantOf(binding, terms, facts);
    await book.add({ kind: 'grant', value: grant });
    this.#parts.onChange({ type: 'grant.created', grant, by });
    // Only now, so that a waiting call finds the grant.
    waiting.wake(id);
    return { approval, grant };
  }

  /** The suggestion becomes an approved call of its own before the first one is denied, so that no agent comes too early. */
  async deny(id: string, by: Approver, denial: { readonly reason?: string; readonly suggestion?: string }) {
    const { clock } = this.#parts;
    const before = this.get(id);
    if (denial.suggestion !== undefined && kindAt(before, clock.now()) === 'open') {
      expectMayDecide(before, by, this.#parts.rules());
      await this.#addApproved(before, by, denial.suggestion);
    }
    const approval = await this.#decide(id, by, (current) => denied(current, { by, now: clock.now() }, denial));
    this.#parts.waiting.wake(id);
    return approval;
  }

  async notNow(id: string, by: Approver): Promise<CallApproval> {
    const { book, clock } = this.#parts;
    const approval = await book.change(id, (current) => lookedAt(current, { by, now: clock.now() }));
    const seen = approval ?? this.get(id);
    this.#parts.onChange({ type: 'approval.seen', approval: seen });
    return seen;
  }

  async resolve(id: string, by: Approver, ran: boolean): Promise<CallApproval> {
    const { book, clock } = this.#parts;
    const approval =
      (await book.change(id, (current) => resolved(current, { by, now: clock.now() }, ran))) ?? this.get(id);
    this.#parts.onChange({ type: 'approval.closed', approval });
    return approval;
  }

  async revoke(id: string, by: Approver) {
    const { book, clock } = this.#parts;
    const grant = await book.changeGrant(id, (current) =>
      current.revoked === undefined
        ? { ...current, version: current.version + 1, revoked: { by, at: clock.now() } }
        : undefined,
    );
    if (grant === undefined) throw new HubError('APPROVAL_DECIDED', `Grant ${id} is revoked already.`);
    this.#parts.onChange({ type: 'grant.revoked', grant, by });
    return grant;
  }

  get numbers() {
    const { book, clock, waiting, counts } = this.#parts;
    const now = clock.now();
    const open = [...book.approvals.values()].filter((approval) => kindAt(approval, now) === 'open').length;
    return { open, waiting: waiting.count, decided: counts.decided, decisionMs: counts.decisionMs };
  }

  async #decide(id: string, by: Approver, make: (current: CallApproval) => CallApproval): Promise<CallApproval> {
    const { book, clock, counts } = this.#parts;
    const decided = await book.change(id, (current) => {
      expectMayDecide(current, by, this.#parts.rules());
      return make(current);
    });
    const approval = decided ?? this.get(id);
    counts.decided[approval.state.kind === 'denied' ? 'denied' : 'approved']++;
    counts.took(clock.now() - approval.opened);
    this.#parts.onChange({ type: 'approval.decided', approval });
    return approval;
  }

  async #addApproved(before: CallApproval, by: Approver, suggestion: string): Promise<void> {
    const { book, clock, random, rules } = this.#parts;
    const binding = { ...before.binding, arguments: suggestion };
    const now = clock.now();
    const approval: CallApproval = {
      ...before,
      id: createId(random, grantIdLength),
      version: 1,
      callKey: callKeyOf(binding),
      binding,
      opened: now,
      expires: now + rules().expiresMs,
      seen: [],
      state: { kind: 'approved', by, at: now, until: now + rules().expiresMs },
    };
    await book.add({ kind: 'approval', value: approval });
    this.#parts.onChange({ type: 'approval.decided', approval });
  }

  #checkTerms({ maxCalls, until }: GrantTerms): void {
    const { book, clock } = this.#parts;
    if (maxCalls !== undefined && !(Number.isInteger(maxCalls) && maxCalls >= 1 && maxCalls <= 10_000)) {
      throw new HubError('USAGE', 'A grant is for 1 to 10000 calls.');
    }
    if (until !== undefined && until <= clock.now())
      throw new HubError('USAGE', 'The end of the grant is in the past.');
    if (book.grants.size >= approvalLimits.grants) {
      throw new HubError('OVERLOADED', `There are ${book.grants.size} grants already.`, {
        hint: 'Revoke some: `qm approvals grants` shows them. A rule may serve better.',
      });
    }
  }
}

const grantIdLength = 12;
