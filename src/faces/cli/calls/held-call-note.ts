import { HubError, isJsonObject } from '../../../base/index.ts';
import type { CallerChannel, CallResult } from '../../../calls/index.ts';
import type { CliContext } from '../context.ts';

export interface HeldCallNote {
  /** Notices that the call waits for approval, and passes on the rest. */
  readonly channel: CallerChannel;
  /** Adds how to go on to the outcome of a call that was interrupted while it waited. */
  explain(outcome: CallResult): CallResult;
}

export interface HeldCallScope {
  readonly tool: string;
  readonly run: string;
  readonly channel: CallerChannel | undefined;
}

/** Says once that a call waits for approval, and how to decide on it. */
export function createHeldCallNote({ terminal }: CliContext, { tool, run, channel }: HeldCallScope): HeldCallNote {
  let noted: string | undefined;
  return {
    channel: {
      ...channel,
      progress(params) {
        const { _meta: meta } = params;
        const approval = isJsonObject(meta) ? meta['quartermaster/approval'] : undefined;
        if (typeof approval !== 'string') channel?.progress?.(params);
        else if (approval !== noted) {
          noted = approval;
          terminal.progress('');
          terminal.err(`${tool} waits for approval ${approval}. Decide with \`qm approvals show ${approval}\`.`);
        }
      },
    },
    explain(outcome) {
      const id = pendingApproval(outcome);
      if (id !== undefined) {
        const hint = `Nothing was sent. Once it is approved, run the command again with --run ${run}.`;
        const message = `${tool} needs approval ${id}, and nobody has decided yet.`;
        return { kind: 'failed', error: new HubError('APPROVAL_REQUIRED', message, { hint }) };
      }
      if (noted === undefined || outcome.kind !== 'failed' || outcome.error.code !== 'CANCELLED') return outcome;
      const hint = `Approval ${noted} stays open. Once it is approved, run the command again with --run ${run}.`;
      const { message, details } = outcome.error;
      return { kind: 'failed', error: new HubError('CANCELLED', message, { hint, details }) };
    },
  };
}

/** The hub's own answer for a call that still waits. */
function pendingApproval(outcome: CallResult): string | undefined {
  if (outcome.kind !== 'result') return undefined;
  const { structuredContent: facts } = outcome.result.value;
  const isPending = isJsonObject(facts) && facts.status === 'pending-approval' && typeof facts.id === 'string';
  return isPending ? String(facts.id) : undefined;
}
