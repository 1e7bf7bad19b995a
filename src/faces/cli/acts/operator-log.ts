import type { AdminEvent } from '../../../ledger/index.ts';
import type { CommandOrigin } from '../../api/index.ts';
import type { CliContext } from '../context.ts';
import { canAsk } from '../trust/trust-prompt.ts';
import { type ActLog, actOnRecord } from './act-on-record.ts';
import type { OperatorAct } from './operator-act.ts';

/** Records acts of the operator in the audit log of the workspace, then does them. */
export function onRecord<T>(
  cli: CliContext,
  workspace: string,
  acts: readonly OperatorAct[],
  work: () => Promise<T>,
): Promise<T> {
  return actOnRecord(operatorLog(cli, workspace), acts, work);
}

export function operatorLog(cli: CliContext, workspace: string): ActLog<OperatorAct> {
  const { terminal } = cli;
  const how = commandOrigin(cli);
  return {
    async write(acts, failed) {
      const { writeEvents } = await import('./write-events.ts');
      await writeEvents(
        cli,
        workspace,
        acts.map((act) => eventOf(how, act, failed)),
      );
    },
    warn: (text) => terminal.err(`${terminal.errColours.yellow('warning')} ${text}`),
  };
}

function eventOf(how: CommandOrigin, { what, subject, detail }: OperatorAct, failed: boolean): AdminEvent {
  const short = (text: string): string => text.slice(0, longestText);
  const more = { ...(detail === undefined ? {} : { detail: short(detail) }), ...(failed ? { failed } : {}) };
  return { who: 'operator', how, what, subject: short(subject), ...more };
}

/** As much as a hub takes of a command. */
const longestText = 200;

/** Whether a person could have been asked. The audit log says so; it proves nothing. */
export function commandOrigin(cli: CliContext): CommandOrigin {
  return canAsk(cli) ? 'terminal' : 'command';
}
