import { HubError, type Logger, toHubError } from '../base/index.ts';
import type { ApprovalStore, StoredEntry } from './approval-store.ts';
import type { CallApproval } from './model/call-approval.ts';
import type { StandingGrant } from './model/standing-grant.ts';

/** All approvals and grants, as stored. A change is stored before anybody sees it. */
export class ApprovalBook {
  readonly #store: ApprovalStore;
  readonly #approvals = new Map<string, CallApproval>();
  readonly #grants = new Map<string, StandingGrant>();
  /** The approvals of each call, the newest last. */
  readonly #ofCall = new Map<string, string[]>();

  constructor(store: ApprovalStore) {
    this.#store = store;
  }

  get approvals(): ReadonlyMap<string, CallApproval> {
    return this.#approvals;
  }

  get grants(): ReadonlyMap<string, StandingGrant> {
    return this.#grants;
  }

  /** The approvals of the same call, the newest last. */
  ofCall(callKey: string): readonly CallApproval[] {
    return (this.#ofCall.get(callKey) ?? []).flatMap((id) => this.#approvals.get(id) ?? []);
  }

  take(entry: StoredEntry): void {
    if (entry.kind === 'grant') {
      this.#grants.set(entry.value.id, entry.value);
      return;
    }
    const { value } = entry;
    if (!this.#approvals.has(value.id)) {
      this.#ofCall.set(value.callKey, [...(this.#ofCall.get(value.callKey) ?? []), value.id]);
    }
    this.#approvals.set(value.id, value);
  }

  async add(entry: StoredEntry): Promise<void> {
    if (!(await this.#store.put(entry))) throw new HubError('INTERNAL', 'A new approval has the id of an earlier one.');
    this.take(entry);
  }

  /** Changes an approval. `make` may throw, or return undefined to leave it as it is. */
  change(id: string, make: (current: CallApproval) => CallApproval | undefined): Promise<CallApproval | undefined> {
    return this.#change('approval', () => this.#approvals.get(id) ?? unknown('approval', id), make);
  }

  changeGrant(
    id: string,
    make: (current: StandingGrant) => StandingGrant | undefined,
  ): Promise<StandingGrant | undefined> {
    return this.#change('grant', () => this.#grants.get(id) ?? unknown('grant', id), make);
  }

  async #change<T extends CallApproval | StandingGrant>(
    kind: StoredEntry['kind'],
    read: () => T,
    make: (current: T) => T | undefined,
  ): Promise<T | undefined> {
    for (;;) {
      const before = read();
      const value = make(before);
      if (value === undefined) return undefined;
      const entry = { kind, value } as StoredEntry; // the kind belongs to the type of the value
      if (await this.#store.put(entry)) {
        this.take(entry);
        return value;
      }
      // Somebody was faster, and what they stored is read now. Nothing new means that it is another process's.
      if (read() === before)
        throw new HubError('APPROVAL_UNAVAILABLE', 'Another process changes the approvals of this hub.');
    }
  }

  async remove(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.#store.remove(ids);
    for (const id of ids) {
      const { callKey = '' } = this.#approvals.get(id) ?? {};
      const others = (this.#ofCall.get(callKey) ?? []).filter((other) => other !== id);
      if (others.length > 0) this.#ofCall.set(callKey, others);
      else this.#ofCall.delete(callKey);
      this.#approvals.delete(id);
      this.#grants.delete(id);
    }
  }

  /** Reads one approval again, after a change of which nobody knows whether it was stored. */
  async reread(id: string): Promise<CallApproval | undefined> {
    for (const entry of (await this.#store.load()).entries) this.take(entry);
    return this.#approvals.get(id);
  }
}

function unknown(what: 'approval' | 'grant', id: string): never {
  throw new HubError('APPROVAL_UNKNOWN', `There is no ${what} "${id.slice(0, 40)}".`, {
    hint: what === 'approval' ? '`qm approvals ls` shows those that are open.' : '`qm approvals grants` shows them.',
  });
}

/** For work that nobody waits for. The next start brings the store up to date. */
export function inBackground(logger: Logger, work: Promise<unknown>): void {
  work.catch((error: unknown) => logger.error('approvals.change-not-stored', { error: toHubError(error).message }));
}
