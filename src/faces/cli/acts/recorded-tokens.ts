import type { RecordedChange } from '../../../governance/index.ts';
import { type ActLog, actOnRecord } from './act-on-record.ts';
import type { OperatorAct } from './operator-act.ts';

/** A change of tokens, and how the order for it came. */
export interface TokenAct extends OperatorAct {
  readonly origin?: string | undefined;
}

/** Has each change of tokens in the audit log before it is stored. */
export function recordTokens(log: ActLog<TokenAct>): RecordedChange {
  return ({ kind, id, agent, parent, run, origin }, make) => {
    const facts = [
      `agent ${agent}`,
      ...(run === undefined ? [] : [`run ${run}`]),
      ...(parent === undefined ? [] : [`delegated from ${parent}`]),
    ];
    return actOnRecord(log, [{ what: `token.${kind}`, subject: id, detail: facts.join(', '), origin }], make);
  };
}
