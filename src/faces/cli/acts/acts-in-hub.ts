import type { Logger } from '../../../base/index.ts';
import { actOrigins, type Ledger } from '../../../ledger/index.ts';
import type { ActLog } from './act-on-record.ts';
import type { TokenAct } from './recorded-tokens.ts';

/** Records acts of the operator in the hub of this process. */
export function actsInHub(ledger: Ledger, logger: Logger): ActLog<TokenAct> {
  return {
    async write(acts, failed) {
      const events = acts.map(({ what, subject, detail, origin }) => {
        const how = actOrigins.find((each) => each === origin) ?? 'api';
        return { who: 'operator', how, what, subject, detail, failed };
      });
      await Promise.all(events.map((event) => ledger.admin(event)));
    },
    warn: (text) => logger.error('ledger.act-not-recorded', { text }),
  };
}
