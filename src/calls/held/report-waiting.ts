import type { CallApproval } from '../../approvals/index.ts';
import type { Timer } from '../../base/index.ts';
import type { CallRun } from '../path/call-run.ts';

export interface WaitingReport {
  /** The call waits for this approval. */
  readonly about: (approval: CallApproval) => void;
  stop(): void;
}

/** Clients that get progress wait longer, and show it. */
const reportMs = 5000;

/** In the metadata of progress and of results: the approval that a call waits for. */
const approvalKey = 'quartermaster/approval';

/** Tells the caller every few seconds what its call waits for. */
export function reportWaiting({ call, path, target }: CallRun): WaitingReport {
  let timer: Timer | undefined;
  let waitsFor: CallApproval | undefined;
  let count = 0;
  function report(): void {
    if (waitsFor === undefined || !call.wantsProgress) return;
    const { id } = waitsFor;
    const url = path.approvals?.linkTo(id);
    const where = url === undefined ? `qm approvals approve ${id}` : url;
    const message = `Waiting for approval ${id} of ${target.server}.${target.subjectName}: ${where}`;
    // Progress must grow, and that of the server follows: it begins at one or so.
    call.progress({ progress: ++count / 1_000_000, message, _meta: { [approvalKey]: id } });
    timer = path.clock.setTimer(reportMs, report);
  }
  return {
    about(approval) {
      waitsFor = approval;
      timer?.cancel();
      report();
    },
    stop() {
      waitsFor = undefined;
      timer?.cancel();
    },
  };
}
